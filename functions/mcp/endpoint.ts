import { InvalidParams, InvalidRequest, McpError, UnsupportedVersion } from '../tasks/errors.ts';
import { limits } from '../tasks/limits.ts';
import { logUnexpected } from '../tasks/log.ts';
import type { ServerContext } from './context.ts';
import { corsHeaders, originAllowed, preflight } from './http/cors.ts';
import {
  accepted,
  acceptsJson,
  acceptsStream,
  type HttpReply,
  type HttpRequest,
  jsonReply,
  notOffered,
} from './http/http.ts';
import { STREAM_HEADERS } from './http/sse.ts';
import { principalOf } from './identity/caller.ts';
import { senderOf } from './identity/session.ts';
import { checkCallScopes } from './identity/tool-scopes.ts';
import { legacy } from './legacy.ts';
import { modern } from './modern.ts';
import { classify, namedVersion } from './protocol/classify.ts';
import {
  errorMessage,
  parseMessage,
  type RequestId,
  type RpcMessage,
  roundedProblem,
  UnreadableMessage,
} from './protocol/jsonrpc.ts';
import { type Era, isModern, LEGACY_VERSIONS, SUPPORTED } from './protocol/versions.ts';
import type { Revision } from './revision.ts';

/** An answer may quote what a client sent: no browser may take it for a page. */
const NO_SNIFFING = { 'x-content-type-options': 'nosniff' };

/** Answers one HTTP request. The checks run in the order of docs/protocol.md 1.1. */
export async function endpoint(request: HttpRequest, server: ServerContext): Promise<HttpReply> {
  if (!originAllowed(request.headers, server.manifest.allowedOrigins)) {
    return jsonReply(403, errorMessage(undefined, new InvalidRequest('Origin is not allowed')).body, NO_SNIFFING);
  }
  const reply = request.method === 'OPTIONS' ? preflight(request.headers) : await serve(request, server);
  const answer = reply.status === 200 && !acceptsJson(request) ? asStream(reply) : reply;
  return { ...answer, headers: { ...answer.headers, ...corsHeaders(request.headers), ...NO_SNIFFING } };
}

/** A client that accepts only streams gets its answer on a stream. */
function asStream(reply: HttpReply): HttpReply {
  if (typeof reply.body !== 'string') return reply;
  return {
    ...reply,
    headers: { ...reply.headers, ...STREAM_HEADERS },
    body: `data: ${reply.body}\n\n`,
  };
}

const revisions: Readonly<Record<Era, Revision>> = { legacy, modern };

async function serve(request: HttpRequest, server: ServerContext): Promise<HttpReply> {
  const named = request.headers['mcp-protocol-version'];
  // Only a request may name its revision in its body.
  const revision = isModern(named) ? modern : legacy;
  let id: RequestId | undefined;
  try {
    if (request.method === 'GET' && revision.stream !== undefined) {
      if (named !== undefined && !LEGACY_VERSIONS.includes(named)) throw new UnsupportedVersion(SUPPORTED, named);
      return await revision.stream(await senderOf(request, principalOf(request.caller, server), server), server);
    }
    if (request.method !== 'POST') return notOffered();
    checkTransport(request);
    const message = parseMessage(request.body);
    if (message.kind === 'request') id = message.id;
    const principal = principalOf(request.caller, server);
    checkCallScopes(principal, message, server);
    await server.events?.seen(principal, 'method' in message ? message.method : '');
    const sender = hasNoSession(message) ? { request, principal } : await senderOf(request, principal, server);
    if (message.kind === 'notification') {
      await revision.notice?.(message, sender, server);
      return accepted();
    }
    if (message.kind === 'response') {
      if (revision.accept === undefined) throw new InvalidRequest('2026-07-28 has no requests of the server to answer');
      await revision.accept(message, sender, server);
      return accepted();
    }
    if (message.rounded !== undefined) throw new InvalidParams(roundedProblem(message.rounded));
    const { era, version } = classify(message, named, sender.session?.version);
    return await revisions[era].answer(message, version, sender, server);
  } catch (error) {
    const unreadable = error instanceof UnreadableMessage;
    const reason = unreadable ? error.reason : error;
    logUnexpected(reason, 'endpoint');
    const { status, body } = errorMessage(unreadable ? error.id : id, reason);
    const retryAfter = reason instanceof McpError ? reason.retryAfter : undefined;
    const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    return jsonReply(status === 200 && id === undefined ? 500 : status, body, headers);
  }
}

/** `initialize` starts a session, and 2026-07-28 has none (D-32). */
function hasNoSession(message: RpcMessage): boolean {
  if (message.kind !== 'request') return false;
  const version = namedVersion(message);
  return message.method === 'initialize' || (typeof version === 'string' && !LEGACY_VERSIONS.includes(version));
}

/** Checks headers and size (docs/protocol.md 1.5). Without an Accept header, both types are fine. */
function checkTransport(request: HttpRequest): void {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new InvalidRequest('Content-Type must be application/json', 415);
  if (!acceptsJson(request) && !acceptsStream(request)) {
    throw new InvalidRequest('Accept must allow application/json or text/event-stream', 406);
  }
  if (Buffer.byteLength(request.body) > limits.body)
    throw new InvalidRequest(`A body has ${limits.body} bytes at most`, 413);
}
