import jsonata from 'jsonata';
import { include } from '../../lib/workflow/definition.ts';
import { execution as input } from '../aws/row.ts';

/** An expression as the definition holds it, with CloudFormation's substitutions made. */
export async function evaluate(
  file: string,
  states: object,
  more: { Input?: object; RetryCount?: number; repeatable?: string[] } = {},
) {
  const { Input = input, RetryCount = 1, repeatable = [] } = more;
  const text = include(`<${file}>`)
    .replaceAll('${RepeatableTools}', JSON.stringify(repeatable))
    .replaceAll('${TableName}', 'tasks')
    .replaceAll('${ResultsBucket}', 'results');
  const expression = jsonata(text);
  expression.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
  const context = { Execution: { Input }, State: { RetryCount } };
  const value: unknown = await expression.evaluate(undefined, { states: { context, ...states } });
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
