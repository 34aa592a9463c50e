import { numberOf } from '../../json.ts';
import type { ResolvedStack, Resource } from '../../template/resources.ts';
import { isFifo, unknownValue } from '../../template/resources.ts';
import type { QueueResource } from '../../template/specs.ts';

export interface FifoQueueResource extends QueueResource {
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
  /** Whether a body is its own deduplication id. */
  readonly deduplicatesByContent: boolean;
  /** Whether two groups may use one deduplication id. */
  readonly deduplicatesByGroup: boolean;
}

/** Seconds (reference of AWS::SQS::Queue in the CloudFormation guide). */
const VISIBILITY = { least: 0, most: 43_200, byDefault: 30 };
const RETENTION = { least: 60, most: 1_209_600, byDefault: 345_600 };
const NO_DELAY = { least: 0, most: 0, byDefault: 0 };

/** The FIFO queues of a template. Refuses a value that SQS refuses, or that is not known here. */
export function readFifoQueues(stacks: readonly ResolvedStack[]): FifoQueueResource[] {
  const queues = stacks.flatMap(({ resources }) => resources.filter(({ type }) => type === 'AWS::SQS::Queue'));
  return queues.flatMap((resource) => {
    if (isFifo(resource.properties)) return [readQueue(resource)];
    if (resource.name.endsWith('.fifo')) throw unknownValue(resource, 'QueueName', resource.name);
    return [];
  });
}

function readQueue(resource: Resource): FifoQueueResource {
  const { properties, name, arn = '' } = resource;
  const { ContentBasedDeduplication, DeduplicationScope = 'queue', FifoThroughputLimit = 'perQueue' } = properties;
  const refuse = (property: string) => unknownValue(resource, property, properties[property]);
  const seconds = (property: string, { least, most, byDefault }: typeof VISIBILITY) => {
    const value = numberOf(properties[property] ?? byDefault);
    if (value === undefined || !Number.isInteger(value) || value < least || value > most) throw refuse(property);
    return value;
  };
  if (!/^[\w-]+\.fifo$/.test(name)) throw unknownValue(resource, 'QueueName', name);
  if (DeduplicationScope !== 'queue' && DeduplicationScope !== 'messageGroup') throw refuse('DeduplicationScope');
  const deduplicatesByGroup = DeduplicationScope === 'messageGroup';
  // "The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup."
  const limits = deduplicatesByGroup ? ['perQueue', 'perMessageGroupId'] : ['perQueue'];
  if (!limits.includes(String(FifoThroughputLimit))) throw refuse('FifoThroughputLimit');
  seconds('DelaySeconds', NO_DELAY);
  return {
    name,
    arn,
    visibilitySeconds: seconds('VisibilityTimeout', VISIBILITY),
    retentionSeconds: seconds('MessageRetentionPeriod', RETENTION),
    deduplicatesByContent: String(ContentBasedDeduplication) === 'true',
    deduplicatesByGroup,
  };
}
