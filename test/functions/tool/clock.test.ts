import { expect, test } from 'vitest';
import { clockOf } from '../../../functions/tool/clock.ts';
import { TaskEnded } from '../../../functions/tool/errors.ts';

test.each([
  ['what Lambda says', { getRemainingTimeInMillis: () => 7 }, 7],
  ['no end, if no Lambda runs it', undefined, Number.POSITIVE_INFINITY],
  ['no end, if a test calls the handler with an empty context', {} as never, Number.POSITIVE_INFINITY],
])('the time that is left is %s', (_what, context, left) => {
  expect(clockOf(context).left()).toBe(left);
});

test('a sleep throws TaskEnded once its signal is aborted', async () => {
  const abort = new AbortController();
  await clockOf().sleep(1, abort.signal);
  const sleeps = clockOf().sleep(60_000, abort.signal);
  abort.abort();
  await expect(sleeps).rejects.toThrow(TaskEnded);
});
