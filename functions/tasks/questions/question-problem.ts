import { asked } from '../input.ts';
import { limits } from '../limits.ts';
import type { RpcError, TaskRecord } from '../record.ts';
import { sizeOf } from '../s3/moved-input.ts';
import { isDeeperThan, isObject } from '../shape.ts';
import { isQuestion, kindOf } from './question.ts';

/**
 * Why a task that asks cannot go on: its questions are not valid, its client cannot be asked them (E-32), or the next
 * round could not start with its answers. The workflow stores questions unchecked, so every reader checks them here.
 * The verdict does not change while the task waits: it ignores the answers of the current round.
 */
export function questionProblem(record: TaskRecord): RpcError | undefined {
  // They were checked before they were moved to S3.
  if (record.asked === undefined && record.inputRef !== undefined) return undefined;
  const { inputRequests, requestState } = asked(record);
  const questions = isObject(inputRequests) ? Object.values(inputRequests) : [];
  // A request state that is nested deeper could not be written again.
  if (questions.length === 0 || !questions.every(isQuestion) || isDeeperThan(requestState, limits.result.depth)) {
    return problem('InputRequestInvalid', 'The tool asked for input in a form that is not valid');
  }
  const kinds = questions.map(kindOf).filter((kind) => record.accepts?.includes(kind) !== true);
  if (kinds.length > 0) {
    return problem(
      'InputNotSupported',
      'The tool needs input of a kind that the client did not declare it can give',
      kinds,
    );
  }
  if (!isTooLarge(record)) return undefined;
  return problem(
    'InputRequestTooLarge',
    'The tool asked for input with too much state: questions, state, arguments and earlier answers may take 240 KB together',
  );
}

/** Counts the escapes that the input of the next round adds. */
export function isTooLarge(record: TaskRecord): boolean {
  const current = `r${record.round}.`;
  const earlier = Object.entries(record.inputResponses ?? {}).filter(([key]) => !key.startsWith(current));
  const kept = sizeOf({ ...record, inputResponses: Object.fromEntries(earlier) });
  return Buffer.byteLength(record.asked ?? '') + kept > limits.asked;
}

function problem(reason: string, message: string, kinds?: readonly string[]): RpcError {
  return { code: -32603, message, data: { reason, ...(kinds !== undefined && { kinds }) } };
}
