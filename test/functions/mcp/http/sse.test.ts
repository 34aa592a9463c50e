import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import {
  EventStream,
  KEEP_ALIVE,
  messageFrame,
  primingFrame,
  streamReply,
} from '../../../../functions/mcp/http/sse.ts';

test('a frame is one event: its id, one line of data, an empty line (B-10, B-11)', () => {
  const message = { text: 'two\nlines' };
  expect(messageFrame(message)).toBe('data: {"text":"two\\nlines"}\n\n');
  expect(messageFrame(message, 'e1')).toBe('id: e1\ndata: {"text":"two\\nlines"}\n\n');
  expect(primingFrame('e0', 500)).toBe('id: e0\nretry: 500\ndata: \n\n');
});

function bodyOf(frames: ConstructorParameters<typeof EventStream>[1]): Readable {
  const { body } = streamReply(new EventStream(Date.now, frames), {});
  if (!(body instanceof Readable)) throw new Error('the body is not a stream');
  return body;
}

test('a reply has headers that keep proxies from buffering its frames', () => {
  const { status, headers } = streamReply(new EventStream(Date.now, async function* () {}), { 'x-own': '1' });
  const fixed = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' };
  expect([status, headers]).toEqual([200, { ...fixed, 'x-own': '1' }]);
});

test('frames are made as a client reads them, and all of them arrive in order', async () => {
  let made = 0;
  const body = bodyOf(async function* () {
    while (made < 10) yield `${++made} `;
  });
  expect(made).toBe(0);
  expect((await body.toArray()).join('')).toBe('1 2 3 4 5 6 7 8 9 10 ');
});

test('a client that disconnects aborts the work, though no next frame is there yet', async () => {
  const aborted = Promise.withResolvers<void>();
  const body = bodyOf(async function* (gone) {
    gone.addEventListener('abort', () => aborted.resolve());
    yield 'first';
    await aborted.promise;
  });
  body.once('data', () => body.destroy());
  await aborted.promise;
  expect(body.destroyed).toBe(true);
});

test('a client that leaves before the first frame is noticed, though no frame has begun', async () => {
  let left = 0;
  const stream = new EventStream(
    Date.now,
    async function* () {},
    async () => void left++,
  );
  const { body } = streamReply(stream, {});
  if (!(body instanceof Readable)) throw new Error('the body is not a stream');
  body.destroy();
  await new Promise((resolve) => body.once('close', resolve));
  expect(left).toBe(1);
});

test('nothing for a while is a comment, so that no proxy closes the stream', async () => {
  let now = 0;
  const stream = new EventStream(
    () => now,
    async function* () {
      for (; now <= 46_000; now += 1_000) yield now === 20_000 ? 'frame' : '';
    },
  );
  const frames: string[] = [];
  for await (const frame of stream.frames(new AbortController().signal)) frames.push(`${now} ${frame}`);
  expect(frames).toEqual([`15000 ${KEEP_ALIVE}`, '20000 frame', `35000 ${KEEP_ALIVE}`]);
});
