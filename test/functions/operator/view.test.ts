import { expect, test } from 'vitest';
import { errorOf } from '../../../functions/operator/view.ts';
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
