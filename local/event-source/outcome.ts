import { isObject } from '../json.ts';
import type { InvokeResult } from '../lambda/types.ts';

/** The outcome of an invocation for its batch. */
export type Outcome =
  | { readonly kind: 'done' }
  /** The records from this one on must be tried again; 0 for the whole batch. */
  | { readonly kind: 'failed'; readonly from: number; readonly result: InvokeResult }
  /** Lambda did not run the function, or its answer was lost. */
  | { readonly kind: 'unreachable'; readonly error: unknown };

/**
 * Reads the answer of a function ("Configuring partial batch response with DynamoDB and Lambda").
 * @param numbers the sequence numbers of the batch, if the function reports which records failed
 */
export function outcomeOf(result: InvokeResult, numbers: readonly string[] | undefined): Outcome {
  const failed = (from: number): Outcome => ({ kind: 'failed', from, result });
  if (result.functionError !== undefined) return failed(0);
  if (!numbers) return { kind: 'done' };
  const answer: unknown = JSON.parse(result.payload || 'null');
  if (answer === null) return { kind: 'done' };
  // An answer that is not of the documented shape counts as a failure here.
  if (!isObject(answer)) return failed(0);
  const failures = answer.batchItemFailures ?? [];
  if (!Array.isArray(failures)) return failed(0);
  if (failures.length === 0) return { kind: 'done' };
  const places = failures.map((failure) => (isObject(failure) ? numbers.indexOf(String(failure.itemIdentifier)) : -1));
  return failed(Math.max(0, Math.min(...places)));
}
