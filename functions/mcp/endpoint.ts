import { InvalidParams, InvalidRequest, McpError, UnsupportedVersion } from '../tasks/errors.ts';
import { listPartition } from '../tasks/ids.ts';
import { limits } from '../tasks/limits.ts';
import { logUnexpected } from '../tasks/log.ts';
import type { ServerContext } from './context.ts';
import { corsHeaders, originAllowed, preflight } from './http/cors.ts';
import { acceptsJson, acceptsStream, emptyReply, type HttpReply, type HttpRequest, jsonReply } from './http/http.ts';
import { STREAM_HEADERS } from './http/sse.ts';
import { principalOf } from './identity/caller.ts';
import { openSession, type Session } from './identity/session.ts';
import { checkCallScopes } from './identity/tool-scopes.ts';
import { acceptResponse, type LegacyCaller, serveLegacy, serveStream } from './legacy.ts';
import { cancelRequest } from './methods/tasks-cancel.ts';
import { serveModern } from './modern.ts';
import { classify, namedVersion } from './protocol/classify.ts';
import {
  errorMessage,
  parseMessage,
  type RequestId,
  type RpcMessage,
  roundedProblem,
  UnreadableMessage,
} from './protocol/jsonrpc.ts';
import { isVersionDate, LEGACY_VERSIONS, MODERN, SUPPORTED } from './protocol/versions.ts';

/** An answer may quote what a client sent: no browser may take it for a page. */
const NO_SNIFFING = { 'x-content-type-options': 'nosniff' };

/** Answers one HTTP request. The checks run in the order of docs/protocol.md 1.1. */
export async function endpoint(request: HttpRequest, server: ServerContext): Promise<HttpReply> {
  if (!originAllowed(request, server.manifest.allowedOrigins)) {
    return jsonReply(403, errorMessage(undefined, new InvalidRequest('Origin is not allowed')).body, NO_SNIFFING);
  }
  const reply = request.method === 'OPTIONS' ? preflight(request) : await serve(request, server);
  const answer = reply.status === 200 && !acceptsJson(request) ? asStream(reply) : reply;
  return { ...answer, headers: { ...answer.headers, ...corsHeaders(request), ...NO_SNIFFING } };
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

async function serve(request: HttpRequest, server: ServerContext): Promise<HttpReply> {
  let id: RequestId | undefined;
  try {
    if (request.method === 'GET') return await serveGet(request, server);
    if (request.method !== 'POST') return notOffered();
    checkTransport(request);
    const message = parseMessage(request.body);
    if (message.kind === 'request') id = message.id;
    checkCallScopes(request, message, server);
    const caller = hasNoSession(message) ? callerInSession(request, server) : await legacyCaller(request, server);
    if (message.kind === 'notification') {
      if (message.method === 'notifications/cancelled') await cancelRequest(caller, message.params.requestId, server);
      return emptyReply(202);
    }
    if (message.kind === 'response') {
      if (namesModern(request)) throw new InvalidRequest('2026-07-28 has no requests of the server to answer');
      return await acceptResponse(message, caller, server);
    }
    if (message.rounded !== undefined) throw new InvalidParams(roundedProblem(message.rounded));
    const { era, version } = classify(message, request.headers['mcp-protocol-version'], caller.session?.version);
    // The version of `initialize` wins over a later header (C-03).
    if (era === 'legacy')
      return await serveLegacy(request, message, caller.session?.version ?? version, caller, server);
    return await serveModern(request, message, version, principalOf(request, server), server);
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

/** Row 4: a GET opens or resumes a stream of a session. 2026-07-28 has no sessions (B-08, B-09, D-32). */
async function serveGet(request: HttpRequest, server: ServerContext): Promise<HttpReply> {
  if (namesModern(request)) return notOffered();
  const version = request.headers['mcp-protocol-version'];
  if (version !== undefined && !LEGACY_VERSIONS.includes(version)) throw new UnsupportedVersion(SUPPORTED, version);
  return serveStream(request, await legacyCaller(request, server), server);
}

const notOffered = () => emptyReply(405, { allow: 'POST' });

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

/** The session identifies an anonymous 2025-11-25 client. An unknown or expired session is a 404 (B-05). */
async function legacyCaller(request: HttpRequest, server: ServerContext): Promise<LegacyCaller> {
  const id = request.headers['mcp-session-id'];
  // A request that names 2026-07-28 in its header needs no session (D-32).
  if (id === undefined || namesModern(request)) return callerInSession(request, server);
  const principal = principalOf(request, server);
  const session = await openSession(server, principal, id);
  if (session === undefined) {
    server.audit('denied', { owner: listPartition(principal), reason: 'session' });
    throw new InvalidRequest('Session not found: initialize again', 404);
  }
  return callerInSession(request, server, session);
}

function callerInSession(request: HttpRequest, server: ServerContext, session?: Session): LegacyCaller {
  return { session, principal: principalOf(request, server, session) };
}

function namesModern(request: HttpRequest): boolean {
  const version = request.headers['mcp-protocol-version'] ?? '';
  return isVersionDate(version) && version >= MODERN;
}
