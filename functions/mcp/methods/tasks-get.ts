import type { Method } from '../server.ts';
import { loadTask, view } from '../task-view.ts';

/** Both eras, each in its own shape (C-14, E-11). */
export const tasksGet: Method = async (call, server) => call.wire.task(view(await loadTask(call, server), server));
