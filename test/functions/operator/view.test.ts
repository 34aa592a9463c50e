import { expect, test } from 'vitest';
import { errorOf, seenNow } from '../../../functions/operator/view.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';

const task = { tool: 'x', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
const failed = (reason: unknown) =>
  errorOf({
    ...create({ owner: 'o', taskId: 'a' }, task, 1),
    error: JSON.stringify({ code: -32603, message: 'm', data: { reason } }),
  });

test('the reason of a failure is shown only if it is the name of an error', () => {
  expect(failed('Lambda.TooManyRequestsException')).toEqual({
    code: -32603,
    message: 'm',
    reason: 'Lambda.TooManyRequestsException',
  });
  for (const text of ['the password is x', 'a\u001b[2J', 7, ['a'], ''])
    expect(failed(text)).toEqual({ code: -32603, message: 'm' });
});

test('a failure that is not known in full still has a message', () => {
  const record = create({ owner: 'o', taskId: 'a' }, task, 1);
  expect(errorOf(record)).toBeUndefined();
  expect(errorOf({ ...record, error: '{"code":1}' })).toEqual({ code: 1, message: '' });
  expect(errorOf({ ...record, error: '{"message":"m"}' })).toStrictEqual({ message: 'm' });
  expect(errorOf({ ...record, error: 'not JSON' })).toEqual({ message: '' });
});

test('questions that were not read count as valid, those that were, and waits, are checked', () => {
  const record = create({ owner: 'o', taskId: 'a' }, task, 1);
  const seen = (more: object) => seenNow({ ...record, ...more }, 2)?.status;
  expect(seen({ status: 'input_required' })).toBe('input_required');
  expect(seen({ status: 'input_required', inputRef: '3.x' })).toBe('input_required');
  expect(seen({ status: 'input_required', asked: '{}' })).toBe('failed');
  expect(seen({ status: 'waiting' })).toBe('failed');
});
