import { expect } from 'vitest';
import { type Answer, type legacySession, openStream, type SseEvent } from '../../support/clients.ts';

export type Session = Awaited<ReturnType<typeof legacySession>>;
export type Message = Answer['body'];
let nextId = 1;

/**
 * Waits for the answer of one request as a client does: resumes each stream that ends without it.
 *
 * @param on gets the questions and reports of the server
 * @param between runs before each resumed stream
 */
export async function follow(
  url: string,
  client: Session,
  method: string,
  params: object,
  { on = () => {}, between = () => {} }: { on?: (message: Message) => unknown; between?: () => unknown } = {},
) {
  const id = `f${nextId++}`;
  const streams: SseEvent[][] = [];
  const messages: Message[] = [];
  let lastId: string | undefined;
  let stream = await openStream(url, { jsonrpc: '2.0', id, method, params }, client.headers);
  for (;;) {
    const events: SseEvent[] = [];
    streams.push(events);
    for await (const event of stream.events) {
      events.push(event);
      lastId = event.id ?? lastId;
      if (event.data === '') continue;
      messages.push(event.data);
      if ('method' in (event.data as object)) await on(event.data);
    }
    const answers = messages.filter((message) => !('method' in message));
    const asked = messages.filter((message) => 'method' in message);
    if (answers.length > 0) return { id, streams, messages, asked, answers, answer: answers[0] };
    await between();
    stream = await openStream(url, undefined, { ...client.headers, 'last-event-id': lastId }, 'GET');
    expect(stream.status).toBe(200);
  }
}
