import type { Method } from '../context.ts';
import { readTask, view } from '../read/read.ts';
import { noteQuestions } from '../stream/session-questions.ts';

/** Both eras, each in its shape (C-14, E-11). Only 2026-07-28 includes the result. */
export const tasksGet: Method = async (call, server) => {
  const { principal, params, tasks, wire } = call;
  const needs = { polled: true, report: true, olderOnly: !tasks, restart: true, state: true, ...wire.shows } as const;
  const record = await readTask(principal, params.taskId, server, needs);
  await noteQuestions(record, call, server);
  return wire.task(view(record, server));
};
