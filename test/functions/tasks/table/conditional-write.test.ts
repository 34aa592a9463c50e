import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { ifConditionHolds } from '../../../../functions/tasks/table/conditional-write.ts';

test('a write that loses its condition gives undefined; another failure is thrown', async () => {
  const failed = new ConditionalCheckFailedException({ message: 'x', $metadata: {} });
  expect(await ifConditionHolds(Promise.resolve('made'))).toBe('made');
  expect(await ifConditionHolds(Promise.reject(failed))).toBeUndefined();
  await expect(ifConditionHolds(Promise.reject(new TypeError('x')))).rejects.toThrow(TypeError);
});
