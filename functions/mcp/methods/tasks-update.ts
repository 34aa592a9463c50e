import type { Method } from '../context.ts';
import { responsesIn } from '../identity/request-state.ts';
import { answerTask } from '../task/answer-task.ts';

/** 2026-07-28 only: takes answers to open questions. All other keys are ignored (E-17 to E-19). */
export const tasksUpdate: Method = async (call, server) => {
  const { inputResponses, taskId } = call.params;
  await answerTask(call.principal, taskId, responsesIn(inputResponses), 'refuse', server);
  return call.wire.result({});
};
