import { type Failure, failure } from '../failures.ts';
import { asked } from '../input.ts';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { sizeOf } from '../s3/moved-input.ts';
import { isDeeperThan, isObject } from '../shape.ts';
import { signalKey, storedSignals } from '../waits/signals.ts';
import { waitsOf } from '../waits/waits.ts';
import { areQuestions, type Questions, undeclaredKinds } from './question.ts';

/**
 * Why a task that asks or waits cannot go on: its questions or waits are not valid, its client cannot be asked them (E-32), or the next
 * round could not start with its answers. The workflow stores questions unchecked, so every reader checks them here.
 * The result is the same as long as the task waits: answers and signals that have come for the current round do not count.
 */
export function questionProblem(record: TaskRecord): Failure | undefined {
  const waits = record.status === 'waiting' || record.waits !== undefined;
  if (waits && waitsOf(record) === undefined) return failure('WaitInvalid');
  // They were checked before they were moved to S3.
  if (record.asked === undefined && record.inputRef !== undefined) return undefined;
  const { inputRequests, requestState } = asked(record);
  const questions = isObject(inputRequests) ? (inputRequests as Questions) : {};
  const asksNothing = record.status === 'waiting' && Object.keys(questions).length === 0;
  // A request state that is nested deeper could not be written again.
  if (!(asksNothing || areQuestions(questions)) || isDeeperThan(requestState, limits.result.depth)) {
    return failure('InputRequestInvalid');
  }
  const kinds = undeclaredKinds(Object.values(questions), record.accepts);
  if (kinds.length > 0) return failure('InputNotSupported', { kinds });
  return isTooLarge(record) ? failure('InputRequestTooLarge') : undefined;
}

/** Counts the escapes that the input of the next round adds. */
export function isTooLarge(record: TaskRecord): boolean {
  const current = `r${record.round}.`;
  const late = storedSignals(record).flatMap(([name, { round, early }]) =>
    round === record.round && !early ? [signalKey(name)] : [],
  );
  const earlier = Object.entries(record.inputResponses ?? {}).filter(
    ([key]) => !key.startsWith(current) && !late.includes(key),
  );
  const kept = sizeOf({ ...record, inputResponses: Object.fromEntries(earlier) });
  return Buffer.byteLength(record.asked ?? '') + kept > limits.asked;
}
