import { failure, runFailure } from '../tasks/failures.ts';
import { limits } from '../tasks/limits.ts';
import { isErrorName } from '../tasks/log.ts';
import type { TaskRecord } from '../tasks/record.ts';
import type { RoundInput } from '../tasks/round-input.ts';
import { isObject, parsed } from '../tasks/shape.ts';
import type { Change } from '../tasks/transitions/change.ts';
import { failAsSeen, finish } from '../tasks/transitions/end.ts';
import type { Execution } from './describe.ts';

/** The execution of a record's round. */
export interface Run extends Execution {
  /** The execution of the tool's own state machine, if the tool is one and it was read. */
  readonly work?: Execution | undefined;
}

/** Whether a tool's own state machine has ended or is gone, while the workflow that waits for it still runs. */
export function isUnheard(work: Execution | undefined, now: number): boolean {
  // A missing one says nothing while the workflow runs: the task may have begun with another state machine, before a
  // deployment gave its tool this one (row 23).
  if (work === undefined || work.status === 'RUNNING' || work.status === 'missing') return false;
  return now - (work.stoppedAt ?? now) >= limits.unheard;
}

/** The end of a task whose workflow will not write it: the end of the tool's own state machine, if known. */
export function outcome(record: TaskRecord, run: Run, now: number): Change {
  const { work } = run;
  if (work?.status === 'SUCCEEDED' && work.output !== undefined) {
    const result = returned(work.output);
    const round = parsed(run.input ?? 'null') as Partial<RoundInput> | null;
    const args = round?.keepArguments === false ? '' : round?.arguments;
    // Without its arguments, a next round would run with wrong ones.
    if (!result.asks || args !== undefined) return finish(record, result, args || undefined, now);
  }
  const byWork = work?.status === 'FAILED' || work?.status === 'TIMED_OUT';
  if (work !== undefined && (byWork || (run.status === 'RUNNING' && work.status === 'ABORTED'))) {
    // As lib/workflow/machine/failed.jsonata writes it.
    return failAsSeen(record, runFailure(work.status === 'TIMED_OUT' ? 'States.Timeout' : reasonOf(work)), now);
  }
  const gone = run.status === 'missing' || run.status === 'RUNNING';
  const reason = gone ? 'ExecutionDoesNotExist' : reasonOf(run);
  return failAsSeen(record, failure('RunLost', { reason }), now);
}

/** As `lib/workflow/machine/finished.jsonata` reads it. */
function returned(text: string) {
  const value = /"(inputRequests|isError)"/.test(text) ? parsed(text) : undefined;
  const asks = isObject(value) && Object.hasOwn(value, 'inputRequests');
  return { text, asks, isError: isObject(value) && value.isError === true };
}

/** The cause of an error is never stored: it holds stack traces. */
const reasonOf = ({ error = '' }: Execution): string => (isErrorName(error) ? error : 'States.TaskFailed');
