import { limits } from '../limits.ts';
import type { TaskKey } from '../record.ts';
import type { Change } from '../transitions.ts';
import { measured, referTo } from './result-ref.ts';
import type { ResultStore } from './result-store.ts';

/**
 * The change that ends a task, with its result in S3 if that would make the record large. The object is stored first,
 * so no record refers to one that was never written. Throws ResultStoreError.
 */
export async function withResultApart(
  { owner, taskId }: TaskKey,
  change: Change,
  objects: Pick<ResultStore, 'put'>,
): Promise<Change> {
  const { result, isError = false } = change.set;
  if (result === undefined || Buffer.byteLength(result) <= limits.result.inline) return change;
  await objects.put({ owner, taskId, outcome: measured(result).sha256 }, result);
  return { ...change, set: { ...change.set, result: JSON.stringify(referTo(result, isError, { in: 'outcomes' })) } };
}
