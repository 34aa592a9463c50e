import { asOf } from '../../tasks/deadlines.ts';
import { InternalError, TooManyStarts, Unavailable } from '../../tasks/errors.ts';
import { awaitRun, startDue } from '../../tasks/express/changes.ts';
import { limits } from '../../tasks/limits.ts';
import { logEvent, logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { ResultStoreError } from '../../tasks/results/result-store.ts';
import { InputLost } from '../../tasks/s3/input-store.ts';
import { type Change, confirmStart, isSeen, keyExpired } from '../../tasks/transitions.ts';
import { restart } from '../../tasks/workflow.ts';
import type { ServerContext } from '../context.ts';
import { isExpress, stopIfOver, stopWork } from './cancel-task.ts';

/**
 * Starts the execution of the current round. Idempotent by its name, `<taskId>-r<round>`, but on Express: there only the
 * request that wrote the last answer may call it.
 *
 * @param own whether this request wrote the last answer. A taken name then belongs to an older task under the same key
 */
export async function startCurrentRound(record: TaskRecord, server: ServerContext, own = false): Promise<TaskRecord> {
  const outcome = await restart(record, machineOf(record, server), server.workflow, server.inputs).catch(
    async (error: unknown) => {
      if (record.express && error instanceof TooManyStarts && error.certain) {
        await note(startDue(record, server.now()), record, server);
      }
      return unavailableIfInputLost(error);
    },
  );
  if (outcome === 'gone') throw new InternalError('The tool of this task is gone');
  if (outcome === 'taken' && own && record.digest !== undefined) {
    return (await server.store.apply(record, keyExpired(record, server.now()))) ?? record;
  }
  if (record.express) await note(awaitRun(record, server.now()), record, server);
  await stopIfOver(record, server);
  return record;
}

/** Best effort: at its first check the sweep starts a round on Express again that has no such note. */
async function note(change: Change, record: TaskRecord, server: ServerContext): Promise<void> {
  await server.store.applyBlind(record, change).catch((error: unknown) => logUnexpected(error, 'noting a start'));
}

/**
 * Called on reads. If the request that answered the task crashed before StartExecution, this starts the round now
 * (docs/crash-table.md, row 16). Errors are only logged: the sweep tries again.
 */
export async function startIfCrashed(record: TaskRecord, server: ServerContext): Promise<void> {
  const { round, updatedAt, tool } = record;
  const now = server.now();
  // A second start would run beside the first one. The sweep starts a round without a note of its start (`note`).
  if (isExpress(record, server)) return;
  if (round === 1 || isSeen(record) || now - updatedAt < limits.restartAfter) return;
  if (now >= record.deadlineAt) return;
  if (asOf(record, now)?.status !== 'working') return;
  try {
    // If the execution exists but has ended, the sweep handles it.
    if ((await restart(record, machineOf(record, server), server.workflow, server.inputs)) !== 'started') return;
    // The task has changed meanwhile, perhaps by a cancel that found no run to stop. Now there is one.
    if (!(await server.store.applyBlind(record, confirmStart(record, now)))) await stopWork(record, server);
  } catch (error) {
    logEvent('restart_failed', { tool, error: (error as Error).name });
  }
}

/** The answer is stored, so the sweep starts the round. It fails the task if its input is lost and no run exists. */
function unavailableIfInputLost(error: unknown): never {
  if (!(error instanceof InputLost) && !(error instanceof ResultStoreError)) throw error;
  logUnexpected(error, 'starting a round');
  throw new Unavailable();
}

const machineOf = ({ tool }: TaskRecord, server: ServerContext) => server.tools.get(tool)?.entry.machine;
