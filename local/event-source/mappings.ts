import { compilePattern, type Matches } from '../events/pattern.ts';
import { listOf, numberOf, objectOf, parsedObject, stringOf } from '../json.ts';
import type { FifoQueueResource } from '../sqs/fifo/resources.ts';
import type { ResolvedStack, Resource } from '../template/resources.ts';
import { unknownValue } from '../template/resources.ts';
import type { Specs } from '../template/specs.ts';
import { readsFifo } from './queue/mappings.ts';
import type { EventSourceMapping } from './types.ts';

/** "Lambda parameters for Amazon DynamoDB event source mappings" in the Lambda developer guide. */
const BATCH_SIZE = { least: 1, most: 10_000, byDefault: 100 };
const RETRY_ATTEMPTS = { least: -1, most: 10_000, byDefault: -1 };
/** Seconds. "The minimum valid value for maximum record age is 60s" (API reference of CreateEventSourceMapping). */
const RECORD_AGE = { least: -1, most: 604_800, byDefault: -1 };
const LEAST_RECORD_AGE = 60;
/** "Valid range: 1 to 10" (same API reference). */
const PARALLELIZATION = { least: 1, most: 10, byDefault: 1 };
/** Seconds (same API reference). */
const BATCHING_WINDOW = { least: 0, most: 300, byDefault: 0 };
/** "Maximum number of filters per event source mapping: 5 by default" ("Control which events Lambda sends"). */
const MOST_FILTERS = 5;
/** Characters of one filter pattern (API reference of Filter). */
const LONGEST_PATTERN = 4_096;
const REPORT = 'ReportBatchItemFailures';

/** What `GetEventSourceMapping` shows of a mapping that was made without these. */
export const DEFAULTS = {
  BatchSize: BATCH_SIZE.byDefault,
  BisectBatchOnFunctionError: false,
  FunctionResponseTypes: [],
  MaximumBatchingWindowInSeconds: BATCHING_WINDOW.byDefault,
  MaximumRecordAgeInSeconds: RECORD_AGE.byDefault,
  MaximumRetryAttempts: RETRY_ATTEMPTS.byDefault,
  ParallelizationFactor: PARALLELIZATION.byDefault,
};

/** Reads the enabled mappings of streams. Refuses, by name, an unknown property of any of them. */
export function readEventSourceMappings(
  stacks: readonly ResolvedStack[],
  specs: Specs,
  queues: readonly FifoQueueResource[] = [],
): EventSourceMapping[] {
  const all = stacks.flatMap(({ resources }) => resources);
  return all
    .filter((resource) => resource.type === 'AWS::Lambda::EventSourceMapping' && !readsFifo(resource, queues))
    .flatMap((resource) => {
      const mapping = readMapping(resource, specs, streamsOf(specs));
      return isTrue(resource.properties.Enabled ?? true) ? [mapping] : [];
    });
}

/** The ARNs of the streams that are on. */
const streamsOf = ({ tables }: Specs): string[] => tables.flatMap(({ stream }) => stream?.arn ?? []);

/** Reads the properties of a mapping, which are also the members of a request to create one. @param streams their ARNs */
export function readMapping(resource: Resource, specs: Specs, streams: readonly string[]): EventSourceMapping {
  const { properties, logicalId } = resource;
  const { EventSourceArn, FunctionName, StartingPosition, FunctionResponseTypes, ScalingConfig } = properties;
  const refuse = (name: string): Error => unknownValue(resource, name, properties[name]);
  const streamArn = streams.find((arn) => arn === EventSourceArn);
  if (streamArn === undefined) throw refuse('EventSourceArn');
  const target = specs.functions.find(({ name, arn }) => name === FunctionName || arn === FunctionName);
  if (!target) throw refuse('FunctionName');
  // A stream here keeps nothing from before its first reader, so both positions are the same.
  if (StartingPosition !== 'TRIM_HORIZON' && StartingPosition !== 'LATEST') throw refuse('StartingPosition');
  if (listOf(FunctionResponseTypes).some((type) => type !== REPORT)) throw refuse('FunctionResponseTypes');
  // "The scaling configuration for the event source": only of queues.
  if (ScalingConfig !== undefined) throw refuse('ScalingConfig');
  const number = (name: string, { least, most, byDefault }: typeof BATCH_SIZE) => {
    const value = numberOf(properties[name] ?? byDefault);
    if (value === undefined || !Number.isInteger(value) || value < least || value > most) throw refuse(name);
    return value;
  };
  const age = number('MaximumRecordAgeInSeconds', RECORD_AGE);
  if (age !== -1 && age < LEAST_RECORD_AGE) throw refuse('MaximumRecordAgeInSeconds');
  const onFailure = readDestination(resource, specs);
  return {
    logicalId,
    streamArn,
    functionArn: target.arn,
    roleArn: target.roleArn,
    batchSize: number('BatchSize', BATCH_SIZE),
    parallelizationFactor: number('ParallelizationFactor', PARALLELIZATION),
    batchingWindowSeconds: number('MaximumBatchingWindowInSeconds', BATCHING_WINDOW),
    maximumRetryAttempts: orInfinite(number('MaximumRetryAttempts', RETRY_ATTEMPTS)),
    maximumRecordAgeSeconds: orInfinite(age),
    bisects: isTrue(properties.BisectBatchOnFunctionError),
    reportsFailures: listOf(FunctionResponseTypes).includes(REPORT),
    wants: readFilters(resource),
    ...(onFailure !== undefined && { onFailure }),
  };
}

const orInfinite = (value: number) => (value === -1 ? Number.POSITIVE_INFINITY : value);
const isTrue = (value: unknown) => value === true || value === 'true';

function readDestination(resource: Resource, { queues }: Specs): string | undefined {
  const { Destination } = objectOf(objectOf(resource.properties.DestinationConfig).OnFailure);
  if (Destination === undefined) return undefined;
  const queue = queues.find(({ arn }) => arn === Destination);
  if (!queue) throw unknownValue(resource, 'DestinationConfig.OnFailure.Destination', Destination);
  return queue.arn;
}

/** A record is wanted if one of the filters matches it, or if there are none. */
function readFilters(resource: Resource): Matches {
  const filters = listOf(objectOf(resource.properties.FilterCriteria).Filters).map((filter) => {
    const { Pattern } = objectOf(filter);
    const pattern = String(Pattern).length > LONGEST_PATTERN ? undefined : parsedObject(stringOf(Pattern));
    if (!pattern) throw unknownValue(resource, 'FilterCriteria.Filters[].Pattern', Pattern);
    const refuse = (path: string, value: unknown): never => {
      throw unknownValue(resource, path, value);
    };
    return compilePattern(pattern, refuse, 'FilterCriteria.Filters[].Pattern');
  });
  if (filters.length > MOST_FILTERS) throw unknownValue(resource, 'FilterCriteria', `${filters.length} filters`);
  return (record) => filters.length === 0 || filters.some((matches) => matches(record));
}
