import { traitsOf } from '../../tasks/engines.ts';
import { newHookKey, newKeyBeside, rerunKey } from '../../tasks/ids.ts';
import { wireKey } from '../../tasks/input.ts';
import type { TaskEvent, TaskKey, TaskRecord } from '../../tasks/record.ts';
import { withKept } from '../../tasks/s3/moved-input.ts';
import { create } from '../../tasks/transitions/begin.ts';
import { isTerminal } from '../../tasks/transitions/change.ts';
import { isWithdrawn } from '../../tasks/transitions/end.ts';
import type { OperatorContext, ToolFacts } from '../context.ts';
import { type FirstInput, firstInputOf } from '../payload.ts';
import type { RunFacts } from '../runs.ts';
import { runsOf } from '../show.ts';
import { seenNow } from '../view.ts';
import { factsOf, type Operator, type Outcome, readRecord, reported } from './act.ts';
import { begin } from './begin.ts';
import { withRights } from './rights.ts';

/**
 * Makes a new task of the same owner from the same arguments, as far as they are still known. Refuses if that could repeat
 * an effect: the tool may not be repeated, and the first task may have run; or an earlier rerun has made its task already.
 * `force` does it all the same, unless no client has ever had the first task. Needs the right to payloads. Throws OperatorError.
 */
export async function rerunTask(
  key: TaskKey,
  force: boolean,
  operator: Operator,
  context: OperatorContext,
): Promise<Outcome> {
  const record = await readRecord(key, true, context);
  const refuse = (message: string): Outcome =>
    reported('rerun', record, operator, { done: false, message: `Not run again: ${message}` }, context);
  const tool = context.server.tools.get(record.tool);
  if (tool?.engine === undefined) return refuse(noSuchTool(record));
  if (!isTerminal((seenNow(record, context.now()) ?? { status: 'failed' }).status)) {
    return refuse('it is still open. Cancel it first');
  }
  const [run] = force ? [] : await runsOf(record, 1, context);
  const refusal = force && !isWithdrawn(record) ? undefined : rerunRefusal(record, tool, run);
  if (refusal !== undefined) return refuse(refusal);
  const rights = { policy: 'payload', otherwise: 'Not run again', action: 'read its arguments' } as const;
  const first = await firstInputOf(await withRights(context, rights).inputs.whole(record), context);
  if (first === undefined) {
    return refuse('its arguments are not known any more. Set keepArguments of its tool to keep them with later tasks');
  }
  if (tool.asksFirst && Object.keys(first.inputResponses).length === 0) {
    return refuse(`'${record.tool}' asks before it runs, and the answers that this task got are not known`);
  }
  const madeKey = force ? newKeyBeside(record, context.now()) : rerunKey(record);
  const made = newRecord(madeKey, record, first, tool, operator, context.now());
  const outcome = await begin(made, first.arguments, context);
  return reported('rerun', record, operator, outcome, context);
}

const noSuchTool = ({ tool }: TaskRecord): string => `this server has no tool '${tool}' that runs as a task`;

/**
 * Why a task that has ended is not run again without `force`. Undefined: nothing speaks against it.
 *
 * @param run of its last round. Undefined: nothing can be known of it
 */
export function rerunRefusal(
  record: TaskRecord,
  tool: ToolFacts | undefined,
  run: RunFacts | undefined,
): string | undefined {
  if (tool?.engine === undefined) return noSuchTool(record);
  if (isWithdrawn(record)) return 'its client got HTTP 429 in place of a task, and calls again';
  if (tool.repeatable) return undefined;
  if (!mayHaveRun(record, run)) {
    // Under a key a repeat of the call finds this task.
    if (record.digest !== undefined || record.rerunOf !== undefined) return undefined;
    return `its client got an error in place of a task, and may have called '${record.tool}' again. --force does it all the same`;
  }
  return `'${record.tool}' may have had effects already, and its annotations do not say that it can be repeated. --force does it all the same`;
}

/**
 * Whether a run of it may have begun. Only its own record can say no: Step Functions knows no run without a history.
 * And a record that says no may be wrong if the answer to its start was lost.
 */
function mayHaveRun(record: TaskRecord, run: RunFacts | undefined): boolean {
  const { status, round, seenRound, result, events } = record;
  const saysNo =
    traitsOf(record).hasHistory &&
    status === 'failed' &&
    record.failure === 'NotStarted' &&
    round === 1 &&
    seenRound === undefined &&
    result === undefined &&
    events.every(({ startedAt }) => startedAt === undefined);
  return !saysNo || (run !== undefined && run.status !== 'missing');
}

function newRecord(
  key: TaskKey,
  record: TaskRecord,
  first: FirstInput,
  tool: ToolFacts,
  operator: Operator,
  now: number,
): TaskRecord {
  const { legacy = false, accepts = [], ttl } = record;
  // A tool that asks in its run asks again.
  const given = tool.asksFirst ? Object.entries(first.inputResponses) : [];
  const made = create(
    key,
    {
      tool: record.tool,
      ttl,
      timeout: tool.timeout,
      accepts,
      legacy,
      ...(tool.outputSchemaId !== undefined && { outputSchemaId: tool.outputSchemaId }),
      ...(tool.scopes && { scopes: tool.scopes }),
      engine: tool.engine,
      hookKey: newHookKey(),
      ...(record.caller !== undefined && { caller: record.caller }),
      inputResponses: Object.fromEntries(given.map(([name, value]) => [wireKey(0, name), JSON.stringify(value)])),
    },
    now,
  );
  const events: readonly TaskEvent[] = [{ at: now, what: 'created', by: 'operator', ...factsOf(operator) }];
  return withKept({ ...made, rerunOf: record.taskId, events }, tool.keepArguments, first.arguments);
}
