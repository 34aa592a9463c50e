import { overdue } from '../tasks/deadlines.ts';
import { InvalidParams, InvalidRequest, McpError, MethodNotFound, TaskNotFound } from '../tasks/errors.ts';
import { failure } from '../tasks/failures.ts';
import { listPartition, type Principal, taskKey } from '../tasks/ids.ts';
import { outstanding } from '../tasks/input.ts';
import { limits } from '../tasks/limits.ts';
import { logIgnored, logUnexpected } from '../tasks/log.ts';
import { refuseAnswer } from '../tasks/transitions/answers.ts';
import { failAsSeen } from '../tasks/transitions/end.ts';
import type { Call, ServerContext } from './context.ts';
import { acceptsStream, emptyReply, type HttpReply, type HttpRequest, jsonReply } from './http/http.ts';
import { EventStream, streamReply } from './http/sse.ts';
import type { Session } from './identity/session.ts';
import { methods } from './methods/index.ts';
import { answerTask } from './methods/tasks-update.ts';
import { errorMessage, type RpcRequest, type RpcResponse, resultMessage, roundedProblem } from './protocol/jsonrpc.ts';
import { LEGACY } from './protocol/versions.ts';
import { readTask } from './read/read.ts';
import { openHeld } from './stream/held-call.ts';
import { hold } from './stream/hold.ts';
import { openKey, openQuestionId } from './stream/questions.ts';
import { offersSessionStream } from './stream/session-questions.ts';
import { openCursor, sessionStream } from './stream/session-stream.ts';
import { legacyWire } from './wire/2025-11-25.ts';

export interface LegacyCaller {
  readonly session: Session | undefined;
  readonly principal: Principal;
}

/**
 * Answers one 2025-11-25 (or 2025-06-18) request. Errors are HTTP 200: a 404 would mean that the session has ended
 * (docs/protocol.md 1.5). Two kinds of errors keep their HTTP status: a missing scope (G-09), and an error with
 * Retry-After (E-29).
 */
export async function serveLegacy(
  request: HttpRequest,
  message: RpcRequest,
  version: string,
  caller: LegacyCaller,
  server: ServerContext,
): Promise<HttpReply> {
  const call = legacyCall(request, message, version, caller);
  try {
    const method = methods.legacy.get(message.method);
    if (method === undefined || (message.method.startsWith('tasks/') && !call.tasks)) {
      throw new MethodNotFound(message.method);
    }
    const result = await method(call, server);
    if (result instanceof EventStream) return streamReply(result, call.replyHeaders);
    return jsonReply(200, resultMessage(message.id, result), call.replyHeaders);
  } catch (error) {
    const byHttp = error instanceof InvalidRequest || (error instanceof McpError && error.retryAfter !== undefined);
    if (byHttp) throw error;
    logUnexpected(error, message.method);
    return jsonReply(200, errorMessage(message.id, error).body, call.replyHeaders);
  }
}

/**
 * A GET with Last-Event-ID resumes a stream, also one that another container sent. Without Last-Event-ID it opens the
 * stream of the session. All other GETs get 405 (B-09).
 */
export async function serveStream(
  request: HttpRequest,
  caller: LegacyCaller,
  server: ServerContext,
): Promise<HttpReply> {
  const eventId = request.headers['last-event-id'];
  const held = eventId === undefined ? undefined : await openHeld(caller, eventId, server);
  if (held === undefined) return serveSessionStream(request, eventId, caller, server);
  if (held.answered) return emptyReply(405, { allow: 'POST' });
  const key = taskKey(caller.principal, held.taskId);
  if (key !== undefined) {
    server.pollLimit.count(key);
    server.pollLimit.setInterval(key, limits.pollInterval.min);
  }
  // A missing scope must be found before the stream starts, while the HTTP status can still change. The stream reports
  // all other errors.
  if (server.manifest.auth === 'oauth') {
    await readTask(caller.principal, held.taskId, server).catch((error: unknown) => {
      if (!(error instanceof TaskNotFound)) throw error;
    });
  }
  // Stryker disable next-line ObjectLiteral,StringLiteral: a held call reads what it holds, not its request
  const message: RpcRequest = { kind: 'request', id: held.id, method: 'tasks/result', params: { taskId: held.taskId } };
  const call = legacyCall(request, message, held.version, caller);
  return streamReply(new EventStream(server.now, (gone) => hold(held, call, server, gone)), {});
}

async function serveSessionStream(
  request: HttpRequest,
  eventId: string | undefined,
  caller: LegacyCaller,
  server: ServerContext,
): Promise<HttpReply> {
  // Stryker disable next-line ObjectLiteral,StringLiteral: this stream does not read its request
  const message: RpcRequest = { kind: 'request', id: '', method: 'GET', params: {} };
  const call = legacyCall(request, message, caller.session?.version ?? '', caller);
  if (!offersSessionStream(call, server) || !acceptsStream(request)) return emptyReply(405, { allow: 'POST' });
  // Before any read: a client could come back with one event id again and again.
  server.pollLimit.countList(call.principal, call.session);
  const { expires = 0 } = caller.session ?? {};
  const fresh = { seen: [], activeAt: expires * 1_000 - limits.session, resumed: false };
  const cursor = eventId === undefined ? fresh : await openCursor(call, eventId, server);
  if (cursor === undefined) {
    server.audit('denied', { owner: listPartition(caller.principal), reason: 'event_id' });
    return emptyReply(405, { allow: 'POST' });
  }
  return streamReply(new EventStream(server.now, (gone) => sessionStream(cursor, call, server, gone)), {});
}

/**
 * Takes the client's answer to a question that was sent on a stream (B-19), by the same code as tasks/update. An answer
 * to a closed question is accepted and ignored. An invalid answer is refused, and the question is asked again.
 */
export async function acceptResponse(
  message: RpcResponse,
  caller: LegacyCaller,
  server: ServerContext,
): Promise<HttpReply> {
  const asked = await openQuestionId(caller, message.id, server);
  if (asked === undefined) {
    server.audit('denied', { owner: listPartition(caller.principal), reason: 'answer_id' });
    throw new InvalidRequest('No request of this server is waiting for this answer');
  }
  const { taskId } = asked;
  const record = await readTask(caller.principal, taskId, server, { questions: true }).catch((error: unknown) => {
    if (error instanceof TaskNotFound) return undefined;
    throw error;
  });
  if (record === undefined) return emptyReply(202);
  const key = openKey(record, asked);
  if (key === undefined) {
    logIgnored(record, 1);
    // If this answer is a repeat, the request before it may have crashed before it restarted the tool: restart it now.
    await answerTask(caller.principal, taskId, {}, 'refuse', server);
    return emptyReply(202);
  }
  const question = outstanding(record)[key];
  if (question !== undefined && message.result === undefined && question.method !== 'elicitation/create') {
    const now = server.now();
    const refused = failAsSeen(record, failure('ClientRefused', {}, question.method), now);
    await server.store.apply(record, overdue(record, now) ?? refused);
    return emptyReply(202);
  }
  try {
    if (message.rounded !== undefined) throw new InvalidParams(roundedProblem(message.rounded));
    const answer = message.result === undefined ? { action: 'cancel' } : message.result;
    await answerTask(caller.principal, taskId, { [key]: answer }, 'refuse', server);
    return emptyReply(202);
  } catch (error) {
    if (error instanceof InvalidParams) await server.store.apply(record, refuseAnswer(record, key, server.now()));
    throw error instanceof InvalidParams ? new InvalidParams(error.message, 400) : error;
  }
}

function legacyCall(request: HttpRequest, message: RpcRequest, version: string, caller: LegacyCaller): Call {
  return {
    ...message,
    wire: legacyWire,
    version,
    principal: caller.principal,
    accepts: caller.session?.accepts ?? [],
    ...(caller.session && { session: caller.session.key }),
    tasks: version === LEGACY,
    request,
    replyHeaders: {},
  };
}
