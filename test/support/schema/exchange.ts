import { classify } from './classify.ts';
import { checkAnswer, checkMessage } from './index.ts';
import { MODERN } from './published.ts';
import { isObject, type Members, members, type Sent, show } from './rules.ts';
import { readSse, type SseEvent } from './sse.ts';

/** Judges all that comes back for one HTTP request. Each method throws for a message that the revision does not publish. */
export interface Exchange {
  /** The whole answer to a request that got no stream; `body` is undefined if it was not JSON. */
  answer(status: number, body: unknown): void;
  /** One event of its stream, in the order they come. */
  event(event: SseEvent): void;
}

/** A stream that is resumed brings answers to requests of before: known by session and id. */
const asked = new Map<string, Sent>();

export function exchange(body: unknown, headers: Readonly<Record<string, string | undefined>>): Exchange {
  const lowerCase = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const { era, kind, sent } = classify(body, (name) => lowerCase.get(name));
  const key = (id: unknown) => JSON.stringify([lowerCase.get('mcp-session-id'), id]);
  if (kind === 'request') asked.set(key(sent.id), sent);
  let messages = 0;
  let answered = false;

  function check(message: unknown): void {
    if (answered) throw new Error(`A message after the answer: ${show(message)}`);
    if (messages++ === 0 && sent.method === 'subscriptions/listen') firstOfListen(members(message));
    if (!isObject(message) || 'method' in message) {
      checkMessage(era, message, sent);
      return;
    }
    const of = kind === 'resume' ? (asked.get(key(message.id)) ?? sent) : sent;
    answered = true;
    checkAnswer(era, typeof of.method === 'string' ? of.method : '', message, of);
    if (kind === 'other' && 'result' in message) throw new Error(`A result to what was no request: ${show(message)}`);
  }

  return {
    answer(status, message) {
      // A gateway in front of the server, or an authorizer, refuses with its own text; it has read no id.
      const foreign =
        status >= 400 && !(isObject(message) && ('id' in message || (status < 500 && 'jsonrpc' in message)));
      if (message !== undefined && !foreign) check(message);
      else if (kind === 'request' && !foreign) throw new Error(`No answer to ${String(sent.method)}: HTTP ${status}`);
    },
    event({ id, data }) {
      if (era === MODERN && id !== undefined) throw new Error('2026-07-28 has no event ids (D-32)');
      if (data === '') return;
      check(data);
    },
  };
}

/** Nothing may come before the acknowledgement; an error may come instead (D-29). */
function firstOfListen(message: Members): void {
  if (message.method === 'notifications/subscriptions/acknowledged' || 'error' in message) return;
  throw new Error(`A listen stream starts with its acknowledgement, not with ${show(message)}`);
}

/** The events of a response, each once it is judged; an answer that is not a stream is the only event. */
export async function* judged(response: Response, exchange: Exchange): AsyncGenerator<SseEvent, void, undefined> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) {
    for await (const event of readSse(response)) {
      exchange.event(event);
      yield event;
    }
    return;
  }
  const text = await response.text();
  const json: unknown = type.startsWith('application/json') ? JSON.parse(text) : undefined;
  exchange.answer(response.status, json);
  if (json !== undefined) yield { data: json };
}
