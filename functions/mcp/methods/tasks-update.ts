import { InvalidParams } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Method } from '../context.ts';
import { answerTask } from '../task/answer-task.ts';

/** 2026-07-28 only: takes answers to open questions. All other keys are ignored (E-17 to E-19). */
export const tasksUpdate: Method = async (call, server) => {
  const { inputResponses, taskId } = call.params;
  if (!isObject(inputResponses)) throw new InvalidParams('inputResponses must be an object');
  if (Buffer.byteLength(JSON.stringify(inputResponses)) > limits.inputResponses) {
    throw new InvalidParams(`inputResponses may take ${limits.inputResponses} bytes at most`);
  }
  await answerTask(call.principal, taskId, inputResponses, 'refuse', server);
  return call.wire.result({});
};
