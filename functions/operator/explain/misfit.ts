import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { bounded } from '../../mcp/bounded-validation.ts';
import type { Validator } from '../../mcp/manifest.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isObject } from '../../tasks/shape.ts';
import type { OperatorContext, ToolFacts } from '../context.ts';
import { payloadOf } from '../payload.ts';

/** Problems that are shown. */
const MOST = 5;
/** Characters of the place of one. */
const LONGEST = 200;

/**
 * Where the structured content of a result breaks the outputSchema of its tool, and which rule: never a value. Undefined: it
 * fits, or the tool has another schema since the task was created.
 */
export async function misfitOf(
  record: TaskRecord,
  { outputSchema, outputSchemaId }: ToolFacts,
  context: OperatorContext,
): Promise<readonly string[] | undefined> {
  if (record.status !== 'completed' || outputSchema === undefined || outputSchemaId !== record.outputSchemaId)
    return undefined;
  const { result } = await payloadOf(record, context);
  if (isObject(result) && result.isError === true) return undefined;
  // As functions/mcp/wire/tool-result.ts reads it: any other JSON is the structured content itself.
  const wrapped = isObject(result) && (Array.isArray(result.content) || 'structuredContent' in result);
  const content = wrapped ? result.structuredContent : result;
  const draft07 = String(outputSchema.$schema ?? '').includes('draft-07');
  const ajv = new (draft07 ? Ajv : Ajv2020)({
    ownProperties: true,
    allErrors: true,
    strict: false,
    validateFormats: false,
  });
  // By the bounds of the endpoint: what takes longer to check is a misfit for clients, and must not stop a console.
  const validate = bounded(ajv.compile(outputSchema) as Validator, `a result of ${record.tool}`);
  if (validate(content)) return undefined;
  // Names of members may come from a client.
  return (validate.errors ?? [])
    .slice(0, MOST)
    .map(({ instancePath, message }) => `${instancePath.slice(0, LONGEST) || '/'} ${message}`);
}
