import { afterEach, expect, test } from 'vitest';
import type { FromWorker } from '../../lambda/protocol.ts';
import { createOutbox } from '../../lambda/worker/outbox.ts';
import { portSink } from '../../lambda/worker/response-stream.ts';

const exits = process.listeners('exit');
afterEach(() => {
  for (const listener of process.listeners('exit')) if (!exits.includes(listener)) process.off('exit', listener);
});

const chunk = (text: string): FromWorker => ({ type: 'chunk', id: 'e', bytes: Buffer.from(text) });
const end: FromWorker = { type: 'end', id: 'e' };
const done: FromWorker = { type: 'done', id: 'e' };
const log: FromWorker = { type: 'log', id: 'e', stream: 'stdout', text: 'x' };
const heap: FromWorker = { type: 'heap', bytes: 1 };

function open() {
  const posted: FromWorker[] = [];
  const post = createOutbox({ postMessage: (message: FromWorker) => void posted.push(message) });
  return { posted, post };
}

test('a whole streamed answer is one message', () => {
  const { posted, post } = open();
  const parts = [chunk('a'), chunk('b'), end, done];
  for (const part of parts) post(part);
  expect(posted).toEqual([{ type: 'batch', messages: parts }]);
});

test('parts go out at the end of the turn, if nothing follows them', async () => {
  const { posted, post } = open();
  post(chunk('a'));
  expect(posted).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(posted).toEqual([chunk('a')]);
});

test('a line of a log goes out at once, after the parts before it', () => {
  const { posted, post } = open();
  post(log);
  post(chunk('a'));
  post(log);
  expect(posted).toEqual([log, { type: 'batch', messages: [chunk('a'), log] }]);
});

test('a thread that ends sends its last parts', () => {
  const { posted, post } = open();
  post(chunk('a'));
  for (const listener of process.listeners('exit')) if (!exits.includes(listener)) listener(0);
  expect(posted).toEqual([chunk('a')]);
});

test('the size of the heap travels alone', () => {
  const { posted, post } = open();
  post(chunk('a'));
  post(heap);
  expect(posted).toEqual([chunk('a'), heap]);
});

test('a handler may fill its buffer again after a write: the first content arrives', async () => {
  const { posted, post } = open();
  const sink = portSink('e', post);
  const buffer = new Uint8Array(9_000);
  for (const byte of [1, 2, 3]) {
    buffer.fill(byte);
    await new Promise<void>((written) => sink.write(buffer, written));
  }
  sink.end();
  await new Promise((resolve) => setImmediate(resolve));
  const sent = posted.flatMap((message) => (message.type === 'batch' ? message.messages : [message]));
  expect(sent.flatMap((message) => (message.type === 'chunk' ? [message.bytes[0]] : []))).toEqual([1, 2, 3]);
});
