import { InvalidRequest } from '../tasks/errors.ts';
import type { Principal } from '../tasks/ids.ts';
import { limits } from '../tasks/limits.ts';
import { classify } from './classify.ts';
import { emptyReply, type HttpReply, type HttpRequest, header, jsonReply } from './http.ts';
import { errorMessage, parseMessage, type RequestId, UnreadableMessage } from './jsonrpc.ts';
import { logUnexpected, serveLegacy } from './legacy.ts';
import { serveModern } from './modern.ts';
import { corsHeaders, originAllowed, preflight } from './origin.ts';
import type { Server } from './server.ts';
import { openSession, type Session } from './session.ts';

/** One HTTP request, from the door to the answer: the ladder of requirements 1.1, in its order. */
export async function endpoint(request: HttpRequest, server: Server): Promise<HttpReply> {
  if (!originAllowed(request, server.manifest.allowedOrigins)) {
    return jsonReply(403, errorMessage(undefined, new InvalidRequest('Origin is not allowed')).body);
  }
  const reply = request.method === 'OPTIONS' ? preflight(request) : await serve(request, server);
  return { ...reply, headers: { ...reply.headers, ...corsHeaders(request) } };
}

async function serve(request: HttpRequest, server: Server): Promise<HttpReply> {
  if (request.method !== 'POST') return emptyReply(405, { allow: 'POST' });
  let id: RequestId | undefined;
  let method = '';
  try {
    checkTransport(request);
    const message = parseMessage(request.body);
    if (message.kind === 'response') throw new InvalidRequest('No request of this server is waiting for an answer');
    method = message.method;
    if (message.kind === 'request') id = message.id;
    const session = method === 'initialize' ? undefined : await sessionOf(request, server);
    if (session === 'unknown') throw new InvalidRequest('Session not found: initialize again', 404);
    if (message.kind === 'notification') return emptyReply(202);
    const { era, version } = classify(message, header(request, 'mcp-protocol-version'), session?.version);
    const principal: Principal = { kind: 'anonymous', ...(era === 'legacy' && session && { session: session.key }) };
    if (era === 'legacy') return await serveLegacy(request, message, version, session, principal, server);
    return await serveModern(request, message, version, principal, server);
  } catch (error) {
    const unreadable = error instanceof UnreadableMessage;
    const reason = unreadable ? error.reason : error;
    logUnexpected(reason, method);
    const { status, body } = errorMessage(unreadable ? error.id : id, reason);
    return jsonReply(status, body);
  }
}

/** Rows that need no body (requirements 1.5); a client that accepts nothing in particular accepts both. */
function checkTransport(request: HttpRequest): void {
  const type = header(request, 'content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== undefined && type !== 'application/json')
    throw new InvalidRequest('Content-Type must be application/json', 415);
  const accept = header(request, 'accept');
  if (
    accept !== undefined &&
    accept !== '' &&
    !/(\*\/\*|application\/(\*|json)|text\/(\*|event-stream))/i.test(accept)
  ) {
    throw new InvalidRequest('Accept must allow application/json or text/event-stream', 406);
  }
  if (Buffer.byteLength(request.body) > limits.body)
    throw new InvalidRequest(`A body has ${limits.body} bytes at most`, 413);
}

/** 2026-07-28 knows no sessions: whoever names that version in the header is not asked for one (D-32). */
async function sessionOf(request: HttpRequest, server: Server): Promise<Session | 'unknown' | undefined> {
  const id = header(request, 'mcp-session-id');
  if (id === undefined || (header(request, 'mcp-protocol-version') ?? '') >= '2026') return undefined;
  return (await openSession(server, id)) ?? 'unknown';
}
