import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import {
  EventStream,
  KEEP_ALIVE,
  messageFrame,
  primingFrame,
  streamReply,
  writes,
} from '../../../../functions/mcp/http/sse.ts';

test('a frame is one event: its id, one line of data, an empty line (B-10, B-11)', () => {
  const message = { text: 'two\nlines' };
  expect(messageFrame(message)).toBe('data: {"text":"two\\nlines"}\n\n');
  expect(messageFrame(message, 'e1')).toBe('id: e1\ndata: {"text":"two\\nlines"}\n\n');
  expect(primingFrame('e0', 500)).toBe('id: e0\nretry: 500\ndata: \n\n');
});

const ATONCE: Pick<ServerContext, 'now' | 'sleep'> = { now: Date.now, sleep: async () => {} };

function bodyOf(frames: AsyncIterable<string>, clock = ATONCE): Readable {
  const { body } = streamReply(new EventStream(frames), clock);
  if (!(body instanceof Readable)) throw new Error('the body is not a stream');
  return body;
}

test('a reply has headers that keep proxies from buffering its frames', () => {
  const { status, headers } = streamReply(new EventStream(Readable.from([])), ATONCE, { 'x-own': '1' });
  const fixed = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };
  expect([status, headers]).toEqual([200, { ...fixed, 'x-own': '1' }]);
});

test('frames are made as a client reads them, and all of them arrive in order', async () => {
  let made = 0;
  async function* frames() {
    while (made < 10) yield `${++made} `;
  }
  const body = bodyOf(frames());
  expect(made).toBe(0);
  expect((await body.toArray()).join('')).toBe('1 2 3 4 5 6 7 8 9 10 ');
});

/** The writes of these frames, each with its time. A number: the frames wait for so long, and say so each second. */
async function written(...frames: (string | number)[]): Promise<string[]> {
  let now = 0;
  async function* made() {
    for (const frame of frames) {
      if (typeof frame === 'string') yield frame;
      for (let left = Number(frame); left > 0; left -= 1_000) {
        yield '';
        now += Math.min(left, 1_000);
      }
    }
  }
  const sleep = async (ms: number) => {
    now += ms;
  };
  const all: string[] = [];
  for await (const write of writes(made(), { now: () => now, sleep })) all.push(`${now} ${write}`);
  return all;
}

test('frames begin apart from the metadata; a comment follows them before the stream waits', async () => {
  expect(await written('a', 'b', 3_000, 'c', 10_000, 'd')).toEqual([
    '50 a',
    '50 b',
    `100 ${KEEP_ALIVE}`,
    '3100 c',
    `3150 ${KEEP_ALIVE}`,
    '13150 d',
  ]);
});

test('a stream of one frame does not wait', async () => {
  expect(await written('a')).toEqual(['0 a']);
  expect(await written()).toEqual([]);
});

test('nothing for a while is a comment, so that no proxy closes the stream', async () => {
  const comments = [100, 15_100, 30_100].map((at) => `${at} ${KEEP_ALIVE}`);
  expect(await written('a', 31_000)).toEqual(['50 a', ...comments]);
});
