import { Readable } from 'node:stream';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { endpoint as real } from '../../../../functions/mcp/endpoint.ts';
import type { HttpReply, HttpRequest } from '../../../../functions/mcp/http/http.ts';
import { type Answer, type Headers_, type ModernOptions, modernMessage } from '../../../support/clients.ts';
import { exchange, judged } from '../../../support/schema/exchange.ts';
import type { SseEvent } from '../../../support/schema/sse.ts';

export type Message = Answer['body'];
export const LEGACY = { 'mcp-protocol-version': '2025-11-25' };

/** The endpoint, for tests that are not about the content type: what they post is JSON unless they say otherwise. */
export function endpoint(request: HttpRequest, server: ServerContext): Promise<HttpReply> {
  const type = request.method === 'POST' ? { 'content-type': 'application/json' } : {};
  return real({ ...request, headers: { ...type, ...request.headers } }, server);
}

/**
 * Sends one request and reads all that comes for it, judged by the published schemas of its revision.
 *
 * @param body text is sent as it is; without a body it is a GET
 * @param on hears each message as it comes
 */
export async function exchanged(
  server: ServerContext,
  body: unknown,
  sent: Headers_,
  on: (message: Message) => unknown = () => {},
  more: Partial<HttpRequest> = {},
) {
  const headers = Object.fromEntries(Object.entries(sent).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])));
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
  const reply = await endpoint({ method: body === undefined ? 'GET' : 'POST', headers, body: text, ...more }, server);
  let raw = typeof reply.body === 'string' ? reply.body : '';
  const keep = (part: unknown) => {
    raw += String(part);
    return Buffer.from(String(part));
  };
  const bytes = typeof reply.body === 'string' ? reply.body : Readable.toWeb(reply.body.map(keep));
  const response = new Response((bytes || null) as string | null, { status: reply.status, headers: reply.headers });
  const events: SseEvent[] = [];
  const messages: Message[] = [];
  for await (const event of judged(response, exchange(body, headers))) {
    events.push(event);
    if (event.data === '') continue;
    messages.push(event.data);
    await on(event.data);
  }
  const answer = messages.find((message) => !('method' in message));
  const asked = messages.filter((message) => 'method' in message);
  const eventIds = events.flatMap(({ id }) => id ?? []);
  const retry = events.findLast((event) => event.retry !== undefined)?.retry;
  const { result, error }: Message = answer ?? {};
  return {
    ...{ ...reply, raw, events, eventIds, lastId: eventIds.at(-1) ?? '', retry },
    ...{ messages, last: messages.at(-1), asked, answer, result, error },
  };
}

/** One 2026-07-28 request. */
export function modernCall(
  server: ServerContext,
  method: string,
  params: Record<string, unknown> = {},
  options: ModernOptions = {},
) {
  const { body, headers } = modernMessage(method, params, options);
  return exchanged(server, body, headers);
}

/** One 2025-11-25 request. */
export const legacyCall = (server: ServerContext, method: string, params: object = {}, session?: string) =>
  exchanged(server, { jsonrpc: '2.0', id: 1, method, params }, { ...LEGACY, 'mcp-session-id': session });
