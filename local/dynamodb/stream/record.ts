import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../json.ts';
import type { StreamResource, StreamViewType } from '../../template/specs.ts';
import { type Item, mapSize } from '../units.ts';

/** A change of an item, as Lambda passes it to a function. */
export interface StreamRecord {
  readonly eventID: string;
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  readonly eventVersion: '1.1';
  readonly eventSource: 'aws:dynamodb';
  readonly awsRegion: string;
  readonly dynamodb: StreamChange;
  /** Only for a change that a service of AWS made. */
  readonly userIdentity?: UserIdentity;
  readonly eventSourceARN: string;
}

export interface StreamChange {
  /** Seconds since the epoch. */
  readonly ApproximateCreationDateTime: number;
  readonly Keys: Item;
  readonly NewImage?: Item;
  readonly OldImage?: Item;
  readonly SequenceNumber: string;
  readonly SizeBytes: number;
  readonly StreamViewType: StreamViewType;
}

export interface UserIdentity {
  readonly type: 'Service';
  readonly principalId: string;
}

/** Who deletes expired items ("DynamoDB Streams and Time to Live"). */
export const TIME_TO_LIVE: UserIdentity = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };

/** A write of one item. An image is absent if there is no item before, or after. */
export interface Change {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly sequenceNumber: string;
  readonly identity: UserIdentity | undefined;
}

/** The record of a write; undefined if the write changed nothing: then DynamoDB has no record of it either. */
export function streamRecord(
  stream: StreamResource,
  keys: readonly string[],
  change: Change,
): StreamRecord | undefined {
  const { before, after, at, sequenceNumber, identity } = change;
  const either = after ?? before;
  if (!either || (before && after && sameItem(before, after))) return undefined;
  const Keys = Object.fromEntries(keys.map((name) => [name, either[name]]));
  const { viewType } = stream;
  const withNew = after && (viewType === 'NEW_IMAGE' || viewType === 'NEW_AND_OLD_IMAGES');
  const withOld = before && (viewType === 'OLD_IMAGE' || viewType === 'NEW_AND_OLD_IMAGES');
  const images = { ...(withNew && { NewImage: after }), ...(withOld && { OldImage: before }) };
  return {
    eventID: randomUUID().replaceAll('-', ''),
    eventName: before ? (after ? 'MODIFY' : 'REMOVE') : 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: stream.region,
    dynamodb: {
      ApproximateCreationDateTime: at,
      Keys,
      ...images,
      SequenceNumber: sequenceNumber,
      SizeBytes: [Keys, ...Object.values(images)].reduce((sum, item) => sum + mapSize(item), 0),
      StreamViewType: viewType,
    },
    ...(identity && { userIdentity: identity }),
    eventSourceARN: stream.arn,
  };
}

/** Whether two maps of attribute values are equal. Sets have no order. */
const sameItem = (before: Item, after: Item): boolean => isDeepStrictEqual(ordered(before), ordered(after));

/** Sorts the sets in a value. @param type of the value, if it is in an attribute value */
function ordered(value: unknown, type = ''): unknown {
  if (Array.isArray(value)) return type === 'L' ? value.map((one) => ordered(one)) : value.toSorted();
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, ordered(inner, name)]));
}
