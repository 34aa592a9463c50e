import { patiently } from '../aws/patiently.ts';
import { limits } from '../limits.ts';
import type { TaskContext } from '../tool-contract.ts';
import { referTo, resultTooLarge } from './result-ref.ts';
import { type ResultStore, ResultStoreError, resultStore } from './result-store.ts';

const stores = new Map<string, ResultStore>();

/**
 * What `defineTool` returns to Lambda: the author's result, a reference if that is too large for the record, or an
 * error result if it is too large for S3, too. Only for results, not for questions.
 */
export async function storeIfLarge(
  returned: unknown,
  task: TaskContext | undefined,
  storeOf: (bucket: string) => Pick<ResultStore, 'put'> = bucketStore,
): Promise<unknown> {
  const text = JSON.stringify(returned) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.result.stored) {
    return { content: [{ type: 'text', text: resultTooLarge(bytes) }], isError: true };
  }
  // A direct call has no record: Lambda can return all of it.
  if (bytes <= limits.result.inline || task === undefined) return returned;
  try {
    const put = () => storeOf(task.results).put(task, text);
    // The work is done.
    await (bytes <= limits.result.carried ? put() : patiently(put));
  } catch (error) {
    // The workflow carries this much, and stores it itself.
    if (error instanceof ResultStoreError && bytes <= limits.result.carried) return returned;
    throw error;
  }
  const { attempt, run } = task;
  const place = { ...(attempt > 0 && { attempt }), ...(run !== undefined && { run }) };
  return referTo(text, hasError(returned), place);
}

/** One per bucket, so that later runs in the container use its connections again. */
export function bucketStore(bucket: string): ResultStore {
  const store = stores.get(bucket) ?? resultStore({ bucket });
  stores.set(bucket, store);
  return store;
}

function hasError(returned: unknown): boolean {
  return typeof returned === 'object' && returned !== null && 'isError' in returned && returned.isError === true;
}
