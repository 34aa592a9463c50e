import { expect, test } from 'vitest';
import { KEEP_ALIVE, QUIET } from '../../../../functions/mcp/http/sse.ts';
import { waitBefore } from '../../../../functions/mcp/stream/pace.ts';
import { limits } from '../../../../functions/tasks/limits.ts';

/** What a stream does before a read of so many units. Time passes only while it sleeps. `leaves`: when its reader goes. */
async function waited(units: number, until = 60_000, leaves = Number.POSITIVE_INFINITY) {
  let now = 0;
  const gone = new AbortController();
  const sleep = async (ms: number) => {
    now += ms;
    if (now >= leaves) gone.abort();
  };
  const quiet = { since: 0 };
  const comments: string[] = [];
  for await (const text of waitBefore(units, until, quiet, { now: () => now, sleep }, gone.signal)) comments.push(text);
  return { took: now, comments, quiet };
}

test.each([
  [0, 1_000],
  [limits.streamUnits, 1_000],
  [2 * limits.streamUnits, 2_000],
  [100, 12_500],
])('a read of %i units comes %i ms after the one before', async (units, took) => {
  expect((await waited(units)).took).toBe(took);
});

test('a stream whose time is over reads once more then, not a moment later', async () => {
  expect((await waited(100, 3_300)).took).toBe(3_300);
});

test('nothing for a while is a comment, so that nobody in between hangs up', async () => {
  expect(await waited(20 * limits.streamUnits)).toMatchObject({ comments: [KEEP_ALIVE], quiet: { since: QUIET } });
});

test('a reader that has gone ends the wait within a second', async () => {
  expect((await waited(100, 60_000, 2_500)).took).toBe(3_000);
});
