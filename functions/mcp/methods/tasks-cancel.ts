import { InvalidParams, TaskNotFound } from '../../tasks/errors.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { cancel, isTerminal } from '../../tasks/transitions.ts';
import type { Call, Method, Server } from '../server.ts';
import { loadTask, view } from '../task-view.ts';

/** Both eras: the record is fenced before the answer (C-25, C-27, E-21), then the work is told to stop. */
export const tasksCancel: Method = async (call, server) => {
  const before = await loadTask(call, server);
  const cancelled = isTerminal(before.status) ? undefined : await server.store.apply(before, cancel(server.now()));
  if (cancelled === undefined) return alreadyOver(call, server);
  await stopWork(before, server);
  return call.wire.taskCancelled(view(cancelled, server));
};

/** An error in 2025-11-25, the same acknowledgement in 2026-07-28. */
async function alreadyOver(call: Call, server: Server): Promise<object> {
  const record = await loadTask(call, server);
  if (!isTerminal(record.status)) throw new TaskNotFound();
  const shown = view(record, server);
  if (call.wire.era === 'modern') return call.wire.taskCancelled(shown);
  const { status } = call.wire.task(shown) as { status: string };
  throw new InvalidParams(`Cannot cancel task: it is already ${status}`);
}

async function stopWork(record: TaskRecord, server: Server): Promise<void> {
  const machine = server.tools.get(record.tool)?.entry.machine;
  if (machine === undefined || record.status !== 'working') return;
  try {
    await server.workflow.stop(record, machine);
  } catch (error) {
    // The run that goes on can no longer change the record (crash table, row 15).
    console.error(JSON.stringify({ event: 'stop_failed', tool: record.tool, error: String((error as Error).name) }));
  }
}
