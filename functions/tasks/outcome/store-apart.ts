import { limits } from '../limits.ts';
import { questionProblem } from '../questions/question-problem.ts';
import type { TaskRecord } from '../record.ts';
import { measured, referTo, storedResult } from '../results/result-ref.ts';
import type { ResultStore } from '../results/result-store.ts';
import type { InputStore } from '../s3/input-store.ts';
import { isLarge, moved } from '../s3/moved-input.ts';
import { withInputApart } from '../transitions/answers.ts';
import { after, type Change, unanswered } from '../transitions/change.ts';
import { failAsSeen } from '../transitions/end.ts';

export interface OutcomeObjects {
  readonly results: Pick<ResultStore, 'put'>;
  readonly inputs: InputStore;
}

/**
 * The change that ends a round, with its result or its questions in S3 if they would make the record large. The object is
 * stored first, so no record refers to one that was never written. Large questions that no client can be asked fail the task.
 * Throws ResultStoreError, InputLost.
 */
export async function withOutcomeApart(
  record: TaskRecord,
  change: Change,
  { results, inputs }: OutcomeObjects,
): Promise<Change> {
  const { owner, taskId } = record;
  const { asked, result, isError = false, updatedAt = record.updatedAt } = change.set;
  if (asked !== undefined) {
    const waiting = after(record, change);
    // A signal that came meanwhile would make it due now.
    if (!isLarge(waiting)) return { ...change, ...unanswered(record) };
    const problem = questionProblem(waiting);
    if (problem !== undefined) return failAsSeen(record, problem, updatedAt);
    const { record: slim, text } = moved(await inputs.whole(waiting));
    await inputs.put(slim, text);
    // It replaces what the record holds of them.
    return { ...withInputApart(change, slim), ...unanswered(record) };
  }
  const size = Buffer.byteLength(`${result}${record.caller ?? ''}${record.kept ?? ''}`);
  if (result === undefined || size <= limits.result.inline || storedResult(result) !== undefined) return change;
  await results.put({ owner, taskId, outcome: measured(result).sha256 }, result);
  return { ...change, set: { ...change.set, result: JSON.stringify(referTo(result, isError, { in: 'outcomes' })) } };
}
