import { withQuestions } from '../../engine/read.ts';
import { startIfCrashed } from '../../engine/start-round.ts';
import { taskKey } from '../../tasks/ids.ts';
import type { Method } from '../context.ts';
import { withMachineState } from '../read/machine-states.ts';
import { loadTask, view } from '../read/read.ts';
import { withCheckedStatus, withResult } from '../read/results.ts';
import { noteQuestions } from '../stream/session-questions.ts';

/** Both eras, each in its shape (C-14, E-11). Only 2026-07-28 includes the result. */
export const tasksGet: Method = async (call, server) => {
  const key = taskKey(call.principal, call.params.taskId);
  if (key !== undefined) server.pollLimit.count(key);
  const loaded = await loadTask(call, server, { report: true });
  server.pollLimit.setInterval(loaded, view(loaded, server).pollInterval);
  await startIfCrashed([loaded], server);
  const record = await withMachineState(loaded, server);
  await noteQuestions(record, call, server);
  const shown = call.wire.showsDetails
    ? await withResult(await withQuestions(record, server), server)
    : await withCheckedStatus(record, server);
  return call.wire.task(view(shown, server));
};
