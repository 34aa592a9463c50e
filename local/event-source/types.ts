import type { Matches } from '../events/pattern.ts';

/** An enabled AWS::Lambda::EventSourceMapping of the stream of a table. */
export interface EventSourceMapping {
  readonly logicalId: string;
  readonly streamArn: string;
  readonly functionArn: string;
  readonly roleArn: string;
  readonly batchSize: number;
  /** Batches of a shard that the function gets at the same time. */
  readonly parallelizationFactor: number;
  readonly batchingWindowSeconds: number;
  /** Infinite if the template gives none. */
  readonly maximumRetryAttempts: number;
  /** Infinite if the template gives none: then a record lives as long as its stream keeps it. */
  readonly maximumRecordAgeSeconds: number;
  readonly bisects: boolean;
  /** Whether the function reports which records failed. */
  readonly reportsFailures: boolean;
  /** Whether the function gets a record. */
  readonly wants: Matches;
  /** The queue for what is given up. */
  readonly onFailure?: string;
}
