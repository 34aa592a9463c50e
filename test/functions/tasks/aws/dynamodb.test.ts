import { expect, test } from 'vitest';
import { dynamoDb } from '../../../../functions/tasks/aws/dynamodb.ts';
import { ifConditionHolds } from '../../../../functions/tasks/table/conditional-write.ts';
import { type FakeAnswer, fakeService } from './fake-service.ts';

const Key = { owner: 'o', taskId: 't' };
const TableName = 'T';

async function client(...answers: FakeAnswer[]) {
  const { asked, endpoint } = await fakeService(...answers);
  return { asked, db: dynamoDb({ endpoint, region: 'eu-west-1', requestTimeout: 5_000 }) };
}
const conditionFailed: FakeAnswer = [
  400,
  { __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException' },
];

test('a condition that does not hold is no outcome, also after a lost answer', async () => {
  const { asked, db } = await client(conditionFailed, 'cut', conditionFailed);
  const put = () => db.put({ TableName, Item: Key, ConditionExpression: 'attribute_not_exists(taskId)' });
  expect(await ifConditionHolds(put())).toBeUndefined();
  expect(asked).toHaveLength(1);
  await expect(put()).rejects.toMatchObject({ $metadata: { httpStatusCode: 400, attempts: 2 } });
});

test('what is undefined is left out; a number that JavaScript cannot hold is the nearest one', async () => {
  const { asked, db } = await client([200, { Attributes: { n: { N: '12345678901234567890.5' } } }]);
  const values = { ':a': { left: undefined, kept: 1 } };
  const update = { TableName, Key, UpdateExpression: 'SET a = :a', ExpressionAttributeValues: values };
  expect((await db.update(update)).Attributes).toEqual({ n: 12345678901234567000 });
  expect(asked[0]?.body).toMatchObject({ ExpressionAttributeValues: { ':a': { M: { kept: { N: '1' } } } } });
});

test('keys that a batch leaves out come back as they can be asked for again', async () => {
  const left = { T: { Keys: [{ owner: { S: 'o' }, taskId: { S: 'u' } }], ConsistentRead: true } };
  const { asked, db } = await client([200, { Responses: { T: [] }, UnprocessedKeys: left }]);
  const Keys = [Key, { ...Key, taskId: 'u' }];
  const { UnprocessedKeys } = await db.batchGet({ RequestItems: { T: { Keys, ConsistentRead: true } } });
  await db.batchGet({ RequestItems: UnprocessedKeys });
  expect(asked[1]?.body).toEqual({ RequestItems: left });
});
