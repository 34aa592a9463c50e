import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { lost } from '../../../../functions/tasks/table/conditional-write.ts';

test('a write that lost is undefined; one that was made is what it gave, and a failure is one', async () => {
  const failed = new ConditionalCheckFailedException({ message: 'x', $metadata: {} });
  expect(await lost(Promise.resolve('made'))).toBe('made');
  expect(await lost(Promise.reject(failed))).toBeUndefined();
  await expect(lost(Promise.reject(new TypeError('x')))).rejects.toThrow(TypeError);
});
