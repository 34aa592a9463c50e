import { InternalError } from '../../tasks/errors.ts';
import { isTerminal } from '../../tasks/transitions.ts';
import type { Method } from '../server.ts';
import { loadTask } from '../task-view.ts';
import { relatedResult } from '../wire/2025-11-25.ts';
import { terminalResult } from './delivery.ts';

/** 2025-11-25 only: what the call itself would have returned (C-16, C-17, C-31). */
export const tasksResult: Method = async (call, server) => {
  const record = await loadTask(call, server);
  if (!isTerminal(record.status)) {
    throw new InternalError(
      `Task is ${record.status}: this server does not wait for results yet, poll tasks/get first`,
    );
  }
  return relatedResult(record, terminalResult(record));
};
