import { listOf, numberOf, objectOf } from '../../json.ts';
import type { FifoQueueResource } from '../../sqs/fifo/resources.ts';
import type { ResolvedStack, Resource } from '../../template/resources.ts';
import { unknownValue } from '../../template/resources.ts';
import type { Specs } from '../../template/specs.ts';

/** An enabled AWS::Lambda::EventSourceMapping of a FIFO queue. */
export interface QueueMapping {
  readonly logicalId: string;
  readonly queueArn: string;
  readonly region: string;
  readonly functionArn: string;
  readonly roleArn: string;
  readonly batchSize: number;
  /** The most batches that the function gets at the same time. */
  readonly maximumConcurrency: number;
  /** Whether the function reports which messages failed. */
  readonly reportsFailures: boolean;
  /** Whether the function may run in a loop of any length. */
  readonly allowsLoop: boolean;
}

/** "For FIFO queues, the maximum is 10" ("Lambda parameters for Amazon SQS event source mappings"). */
const BATCH_SIZE = { least: 1, most: 10, byDefault: 10 };
/** "You can set maximum concurrency between 2 and 1,000" ("Configuring maximum concurrency for Amazon SQS event sources"). */
const CONCURRENCY = { least: 2, most: 1_000, byDefault: Number.POSITIVE_INFINITY };
const REPORT = 'ReportBatchItemFailures';
/** "Batching window is not supported for FIFO queues" (same page); the others are for streams. Filters are not known here. */
const NOT_OF_FIFO =
  'StartingPosition MaximumBatchingWindowInSeconds ParallelizationFactor BisectBatchOnFunctionError ' +
  'MaximumRetryAttempts MaximumRecordAgeInSeconds DestinationConfig FilterCriteria';

/** Whether a mapping reads a FIFO queue of the template. */
export const readsFifo = ({ properties }: Resource, queues: readonly FifoQueueResource[]): boolean =>
  queues.some(({ arn }) => arn === properties.EventSourceArn);

/** Reads the enabled mappings of FIFO queues. Refuses what Lambda refuses, and what is not known here. */
export function readQueueMappings(
  stacks: readonly ResolvedStack[],
  specs: Specs,
  queues: readonly FifoQueueResource[],
): QueueMapping[] {
  const all = stacks.flatMap(({ resources }) => resources);
  return all
    .filter((resource) => resource.type === 'AWS::Lambda::EventSourceMapping' && readsFifo(resource, queues))
    .flatMap((resource) => {
      const mapping = readMapping(resource, specs, queues);
      return String(resource.properties.Enabled ?? true) === 'true' ? [mapping] : [];
    });
}

function readMapping(resource: Resource, { functions }: Specs, queues: readonly FifoQueueResource[]): QueueMapping {
  const { properties, logicalId, region } = resource;
  const { EventSourceArn, FunctionName, FunctionResponseTypes, ScalingConfig, BatchSize } = properties;
  const refuse = (name: string, value = properties[name]): Error => unknownValue(resource, name, value);
  const queue = queues.find(({ arn }) => arn === EventSourceArn);
  if (!queue) throw refuse('EventSourceArn');
  const target = functions.find(({ name, arn }) => name === FunctionName || arn === FunctionName);
  if (!target) throw refuse('FunctionName');
  const wrong = NOT_OF_FIFO.split(' ').find((name) => properties[name] !== undefined);
  if (wrong !== undefined) throw refuse(wrong);
  if (listOf(FunctionResponseTypes).some((type) => type !== REPORT)) throw refuse('FunctionResponseTypes');
  // Lambda checks this when it makes the mapping.
  if (queue.visibilitySeconds < target.timeoutSeconds) {
    throw new Error(
      `Queue visibility timeout: ${queue.visibilitySeconds} seconds is less than Function timeout: ` +
        `${target.timeoutSeconds} seconds, for the event source mapping ${logicalId}`,
    );
  }
  const number = (name: string, given: unknown, { least, most, byDefault }: typeof BATCH_SIZE) => {
    if (given === undefined) return byDefault;
    const value = numberOf(given);
    if (value === undefined || !Number.isInteger(value) || value < least || value > most) throw refuse(name, given);
    return value;
  };
  const { MaximumConcurrency } = objectOf(ScalingConfig);
  return {
    logicalId,
    region,
    queueArn: queue.arn,
    functionArn: target.arn,
    roleArn: target.roleArn,
    batchSize: number('BatchSize', BatchSize, BATCH_SIZE),
    maximumConcurrency: number('ScalingConfig.MaximumConcurrency', MaximumConcurrency, CONCURRENCY),
    reportsFailures: listOf(FunctionResponseTypes).includes(REPORT),
    allowsLoop: target.allowsLoop ?? false,
  };
}
