import type { Entry } from '../dynamodb/stream/index.ts';
import type { InvokeResult } from '../lambda/types.ts';
import type { EventSourceMapping } from './types.ts';

export type Condition = 'RetryAttemptsExhausted' | 'RecordAgeExceeded';

export interface Discarded {
  readonly mapping: EventSourceMapping;
  readonly shardId: string;
  readonly entries: readonly Entry[];
  readonly condition: Condition;
  readonly requestId: string;
  readonly invocations: number;
  /** The result of the last invocation; undefined if the function did not answer. */
  readonly result: InvokeResult | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The message that the destination gets ("Retain discarded records for a DynamoDB event source"). It has no records. */
export function discardMessage(discarded: Discarded): object {
  const { mapping, shardId, entries, condition, requestId, invocations, result, at } = discarded;
  const [first, last] = [entries.at(0)?.record.dynamodb, entries.at(-1)?.record.dynamodb];
  return {
    requestContext: { requestId, functionArn: mapping.functionArn, condition, approximateInvokeCount: invocations },
    ...(result && {
      responseContext: {
        statusCode: result.statusCode,
        executedVersion: result.executedVersion,
        ...(result.functionError !== undefined && { functionError: result.functionError }),
      },
    }),
    version: '1.0',
    timestamp: new Date(at).toISOString(),
    DDBStreamBatchInfo: {
      shardId,
      startSequenceNumber: first?.SequenceNumber,
      endSequenceNumber: last?.SequenceNumber,
      approximateArrivalOfFirstRecord: arrival(first?.ApproximateCreationDateTime),
      approximateArrivalOfLastRecord: arrival(last?.ApproximateCreationDateTime),
      batchSize: entries.length,
      streamArn: mapping.streamArn,
    },
  };
}

/** Formats a time without milliseconds, as documented. */
function arrival(seconds = 0): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
