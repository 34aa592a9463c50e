import { TaskNotFound } from '../tasks/errors.ts';
import { taskKey } from '../tasks/ids.ts';
import { limits } from '../tasks/limits.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { asOf } from '../tasks/transitions.ts';
import type { Call, Server } from './server.ts';
import type { TaskView } from './wire/wire.ts';

/** The caller's task of `params.taskId` as of now. One GetItem; unknown, foreign and expired are the same (C-28, E-15). */
export async function loadTask({ params, principal }: Call, server: Server): Promise<TaskRecord> {
  const key = taskKey(principal, params.taskId);
  const stored = key === undefined ? undefined : await server.store.get(key);
  const record = stored === undefined ? undefined : asOf(stored, server.now());
  if (record === undefined) throw new TaskNotFound();
  return record;
}

export function view(record: TaskRecord, server: Server): TaskView {
  const fixed = server.tools.get(record.tool)?.entry.pollInterval;
  const { min, max, shareOfAge } = limits.pollInterval;
  const adaptive = Math.round(Math.min(Math.max((server.now() - record.createdAt) * shareOfAge, min), max));
  return { record, pollInterval: fixed ?? adaptive };
}
