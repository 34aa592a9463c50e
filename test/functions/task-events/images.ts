import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import type { TaskRecord } from '../../../functions/tasks/record.ts';

/** A value as DynamoDB's streams write it. */
function attribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(attribute) };
  return { M: imageOf(value as object) };
}

export const imageOf = (item: object): Record<string, AttributeValue> =>
  Object.fromEntries(
    Object.entries(item).flatMap(([name, value]) => (value === undefined ? [] : [[name, attribute(value)]])),
  );

/** The stream record of one write. */
export const streamRecord = (
  before: TaskRecord | undefined,
  after: TaskRecord | undefined,
  number = 1,
  at = 0,
): DynamoDBRecord => ({
  eventName: before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY',
  dynamodb: {
    ...(before && { OldImage: imageOf(before) }),
    ...(after && { NewImage: imageOf(after) }),
    SequenceNumber: String(number),
    ApproximateCreationDateTime: at / 1_000,
  },
});
