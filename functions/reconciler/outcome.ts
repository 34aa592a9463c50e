import { isErrorName } from '../tasks/error-facts.ts';
import { limits } from '../tasks/limits.ts';
import type { RpcError, TaskRecord } from '../tasks/record.ts';
import { isObject, parsed } from '../tasks/shape.ts';
import { type Change, failAsSeen, finish, isSeen } from '../tasks/transitions.ts';
import type { RoundInput } from '../tasks/workflow.ts';
import type { Execution } from './describe.ts';

/** The execution of a record's round. */
export interface Run extends Execution {
  /** The execution of the tool's own state machine, if the tool is one and it was read. */
  readonly work?: Execution | undefined;
}

/** Whether a tool's own state machine has ended or is gone, while the workflow that waits for it still runs. */
export function isUnheard(record: TaskRecord, work: Execution | undefined, now: number): boolean {
  if (work === undefined || work.status === 'RUNNING') return false;
  // Only if the workflow was seen before: one that has just begun may not have started it yet.
  if (work.status === 'missing') return isSeen(record);
  return now - (work.stoppedAt ?? now) >= limits.unheard;
}

/**
 * The end of a task whose workflow will not write it: the outcome of the tool's own state machine, if that is known.
 */
export function outcome(record: TaskRecord, run: Run, now: number): Change {
  const { work } = run;
  if (work?.status === 'SUCCEEDED' && work.output !== undefined) {
    return finish(record, returned(work.output), argumentsOf(run), now);
  }
  const byWork = work?.status === 'FAILED' || work?.status === 'TIMED_OUT';
  if (work !== undefined && (byWork || (run.status === 'RUNNING' && work.status === 'ABORTED'))) {
    return failAsSeen(record, failureOf(work), now);
  }
  const gone = run.status === 'missing' || run.status === 'RUNNING';
  const reason = gone ? 'ExecutionDoesNotExist' : reasonOf(run);
  return failAsSeen(
    record,
    { code: -32603, message: 'The run of the tool ended without a result', data: { reason } },
    now,
  );
}

/** As `lib/workflow/machine-finished.jsonata` reads it. */
function returned(text: string) {
  const value = /"(inputRequests|isError)"/.test(text) ? parsed(text) : undefined;
  const asks = isObject(value) && Object.hasOwn(value, 'inputRequests');
  return { text, asks, isError: isObject(value) && value.isError === true };
}

function argumentsOf({ input }: Run): string {
  const round = parsed(input ?? 'null') as Partial<RoundInput> | null;
  return round?.arguments ?? '{}';
}

/** As `lib/workflow/machine-failed.jsonata` writes it. */
function failureOf(work: Execution): RpcError {
  const reason = work.status === 'TIMED_OUT' ? 'States.Timeout' : reasonOf(work);
  const message = reason === 'States.Timeout' ? 'The tool ran out of its time' : 'The tool failed';
  return { code: -32603, message, data: { reason } };
}

/** The cause of an error is never stored: it holds stack traces. */
const reasonOf = ({ error = '' }: Execution): string => (isErrorName(error) ? error : 'States.TaskFailed');
