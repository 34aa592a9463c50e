import { expect, test } from 'vitest';
import { readSse, type SseEvent } from '../sse.ts';

test('readSse reads every way to write a stream, byte by byte', async () => {
  const text =
    ': hi\n\nid: 1\r\nretry: 20\r\ndata:\r\n\r\nevent: message\rdata:{"a":\rdata: "ü"}\r\rdata: 1\n\n\ndata: cut off';
  const bytes = [...new TextEncoder().encode(text)].map((byte) => Uint8Array.of(byte));
  const events: SseEvent[] = [];
  for await (const event of readSse(new Response(ReadableStream.from(bytes)))) events.push(event);
  expect(events).toEqual([{ id: '1', retry: 20, data: '' }, { event: 'message', data: { a: 'ü' } }, { data: 1 }]);
});
