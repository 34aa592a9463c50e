import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import type { RoundInput } from '../../../functions/tasks/round-input.ts';
import { isDeeperThan, isObject } from '../../../functions/tasks/shape.ts';
import { definition } from '../../../lib/workflow/definition.ts';
import { awsFunctions, compileExpression, createRandom, JsonataFailure } from '../../../local/testing.ts';

interface Write {
  readonly update: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const { Run } = (
  JSON.parse(definition('standard').replaceAll('${RepeatableTools}', '[]')) as {
    States: { Run: { Output: string; Catch: { Output: string }[] } };
  }
).States;
const finished = expressionIn(Run.Output);
const failed = expressionIn(Run.Catch[0]?.Output ?? '');
/** The output that a state may pass on. */
const MOST_BYTES = 262_144;

/** The record as the tool workflow leaves it when its function returns this text: by the workflow's own expressions. */
export async function finish(text: string, input: string, record: TaskRecord, now: number): Promise<TaskRecord> {
  const round = JSON.parse(input) as RoundInput;
  const context = { Execution: { Input: round }, State: { RetryCount: 0 } };
  const given = awsFunctions(now, createRandom(round.taskId));
  const write = (expression: typeof finished, more: object) =>
    expression.evaluate({ ...given, states: { context, ...more } }) as Promise<Write>;
  const failure = (name: string) => write(failed, { errorOutput: { Error: name } });
  let change: Write;
  try {
    change = await write(finished, { result: { Payload: payloadOf(text) } });
    if (Buffer.byteLength(JSON.stringify(change)) > MOST_BYTES) change = await failure('States.DataLimitExceeded');
  } catch (error) {
    if (!(error instanceof JsonataFailure)) throw error;
    change = await failure('States.QueryEvaluationError');
  }
  const counts = record.status === 'working' && record.round === round.round && record.deadlineAt >= now - 10_000;
  return counts ? written(record, change) : record;
}

/** The value of a function: plain, or in an envelope as `defineTool` makes it. */
function payloadOf(text: string): unknown {
  const returned: unknown = JSON.parse(text);
  // JSONata refuses deep nesting of a plain function.
  if (text.length % 2 === 0 && !isDeeperThan(returned, limits.jsonDepth)) return returned;
  const { inputRequests, isError } = isObject(returned) ? returned : {};
  return { mcpTask: 1, text, isError: isError === true, asks: inputRequests !== undefined };
}

function expressionIn(field: string): ReturnType<typeof compileExpression> {
  return compileExpression(field.slice('{%'.length, -'%}'.length).trim());
}

/** Applies `SET #a = :a, #b = :b REMOVE #c, #d` like DynamoDB, without the record's events, which no client sees. */
function written(record: TaskRecord, { update, names, values }: Write): TaskRecord {
  const [, sets = '', removes = ''] = /^SET (.*?)(?:, #events = list_append\(.*\))? REMOVE (.*)$/.exec(update) ?? [];
  const changed: Record<string, unknown> = { ...record };
  for (const name of removes.split(', ')) delete changed[names[name] ?? name];
  for (const [name = '', placeholder = ''] of sets.split(', ').map((set) => set.split(' = '))) {
    const [type, value] = Object.entries(values[placeholder] ?? {})[0] ?? [];
    if (type === undefined) throw new Error(`The workflow writes no value for ${name}`);
    changed[names[name] ?? name] = type === 'N' ? Number(value) : value;
  }
  return changed as unknown as TaskRecord;
}
