import { limits } from '../limits.ts';
import type { TaskContext } from '../tool-contract.ts';
import { measured, type ResultRef, resultTooLarge } from './result-ref.ts';
import { type ResultStore, resultStore } from './result-store.ts';

const stores = new Map<string, ResultStore>();

/**
 * What a wrapped tool gives to Lambda for what its author returned: the same, or a reference if it is too large for
 * the workflow, or an error result if it is too large for anybody. Questions are no result: not for them.
 */
export async function storeIfLarge(
  returned: unknown,
  task: TaskContext | undefined,
  storeOf: (bucket: string) => Pick<ResultStore, 'put'> = knownStore,
): Promise<unknown> {
  const text = JSON.stringify(returned) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.result.stored) {
    return { content: [{ type: 'text', text: resultTooLarge(bytes) }], isError: true };
  }
  // A direct call has no workflow in between: Lambda carries as much.
  if (bytes <= limits.result.inline || task === undefined) return returned;
  await storeOf(task.results).put(task, text);
  const ref: ResultRef = { resultRef: { ...measured(text), ...(task.attempt > 0 && { attempt: task.attempt }) } };
  return hasError(returned) ? { ...ref, isError: true } : ref;
}

/** One for each bucket: its connections are kept from one run of the container to the next. */
function knownStore(bucket: string): ResultStore {
  const store = stores.get(bucket) ?? resultStore({ bucket });
  stores.set(bucket, store);
  return store;
}

function hasError(returned: unknown): boolean {
  return typeof returned === 'object' && returned !== null && 'isError' in returned && returned.isError === true;
}
