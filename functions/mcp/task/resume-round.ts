import { asOf } from '../../tasks/deadlines.ts';
import { InternalError, Unavailable } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { InputLost } from '../../tasks/s3/input-store.ts';
import { ResultStoreError } from '../../tasks/s3/result-store.ts';
import { confirmStart, isSeen, keyExpired } from '../../tasks/transitions.ts';
import { restart } from '../../tasks/workflow.ts';
import type { Server } from '../context.ts';
import { stopIfOver, stopWork } from './cancel-task.ts';

/**
 * Starts the round that the last answer began; as often as anybody likes, it is started once. `own`: this request has
 * just written that answer, so nobody else has started it long ago.
 */
export async function goOn(record: TaskRecord, server: Server, own = false): Promise<TaskRecord> {
  const outcome = await restart(record, machineOf(record, server), server.workflow, server.inputs).catch(unstarted);
  if (outcome === 'gone') throw new InternalError('The tool of this task is gone');
  if (outcome === 'taken' && own && record.digest !== undefined) {
    return (await server.store.apply(record, keyExpired(record, server.now()))) ?? record;
  }
  await stopIfOver(record, server);
  return record;
}

/**
 * For whoever asks how a task is: whoever answered it may have died before its round was started, so it is started
 * again, once (docs/crash-table.md, row 16). Nothing that goes wrong here is worth an error: there is the sweep, too.
 */
export async function goOnIfLost(record: TaskRecord, server: Server): Promise<void> {
  const { round, updatedAt, tool } = record;
  const now = server.now();
  if (round === 1 || isSeen(record) || now - updatedAt < limits.restartAfter) return;
  if (now >= record.deadlineAt) return;
  if (asOf(record, now)?.status !== 'working') return;
  try {
    // A run that is there and does not run is for the sweep to look at.
    if ((await restart(record, machineOf(record, server), server.workflow, server.inputs)) !== 'started') return;
    // Lost, perhaps to a cancel that found no run to stop: there is one now.
    if (!(await server.store.applyBlind(record, confirmStart(record, now)))) await stopWork(record, server);
  } catch (error) {
    console.error(JSON.stringify({ event: 'restart_failed', tool, error: (error as Error).name }));
  }
}

/** The answer is stored. The sweep starts the round, or ends the task if its input is lost and it does not run yet. */
function unstarted(error: unknown): never {
  if (!(error instanceof InputLost) && !(error instanceof ResultStoreError)) throw error;
  logUnexpected(error, 'starting a round');
  throw new Unavailable();
}

const machineOf = ({ tool }: TaskRecord, server: Server) => server.tools.get(tool)?.entry.machine;
