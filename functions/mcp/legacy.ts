import { overdue } from '../tasks/deadlines.ts';
import { InvalidParams, InvalidRequest, McpError, MethodNotFound, TaskNotFound } from '../tasks/errors.ts';
import { failure } from '../tasks/failures.ts';
import { listPartition, type Principal } from '../tasks/ids.ts';
import { outstanding, refusalsOf } from '../tasks/input.ts';
import { limits } from '../tasks/limits.ts';
import { logIgnored, logUnexpected } from '../tasks/log.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { refuseAnswer } from '../tasks/transitions/answers.ts';
import { failAsSeen } from '../tasks/transitions/end.ts';
import type { Call, ServerContext } from './context.ts';
import { acceptsStream, type HttpReply, jsonReply, notOffered } from './http/http.ts';
import { EventStream, streamReply } from './http/sse.ts';
import type { Sender } from './identity/session.ts';
import { methodOf, methods } from './methods/index.ts';
import { cancelRequest } from './methods/tasks-cancel.ts';
import { answerTask } from './methods/tasks-update.ts';
import { responsesIn } from './protocol/call-params.ts';
import {
  errorMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  resultMessage,
  roundedProblem,
} from './protocol/jsonrpc.ts';
import { LEGACY } from './protocol/versions.ts';
import { readTask } from './read/read.ts';
import type { Revision } from './revision.ts';
import { openHeld } from './stream/held-call.ts';
import { hold } from './stream/hold.ts';
import { openKey, openQuestionId, type QuestionId } from './stream/questions.ts';
import { offersSessionStream } from './stream/session-questions.ts';
import { openCursor, sessionStream } from './stream/session-stream.ts';
import { legacyWire } from './wire/2025-11-25.ts';

/** After this many lost races with other answers, one that is not valid counts no more. */
const REFUSE_ATTEMPTS = 25;

/**
 * Answers one 2025-11-25 (or 2025-06-18) request. Errors are HTTP 200: a 404 would mean that the session has ended
 * (docs/protocol.md 1.5). Two kinds of errors keep their HTTP status: a missing scope (G-09), and an error with
 * Retry-After (E-29).
 */
async function answer(message: RpcRequest, version: string, sender: Sender, server: ServerContext): Promise<HttpReply> {
  // The version of `initialize` wins over a later header (C-03).
  const call = callOf(message, sender.session?.version ?? version, sender);
  try {
    const method = methodOf(methods.legacy, message.method, server.manifest);
    if (method === undefined || (message.method.startsWith('tasks/') && !call.tasks)) {
      throw new MethodNotFound(message.method);
    }
    const result = await method(call, server);
    if (result instanceof EventStream) return streamReply(result, server, call.replyHeaders);
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
async function stream(sender: Sender, server: ServerContext): Promise<HttpReply> {
  const { principal } = sender;
  const eventId = sender.request.headers['last-event-id'];
  const held = eventId === undefined ? undefined : await openHeld(sender, eventId, server);
  if (held === undefined) return streamOfSession(eventId, sender, server);
  if (held.answered) return notOffered();
  server.pollLimit.countShown(held);
  // A missing scope must be found before the stream starts, while the HTTP status can still change. The stream reports
  // all other errors.
  if (server.manifest.auth === 'oauth') {
    await readTask(principal, held.taskId, server).catch((error: unknown) => {
      if (!(error instanceof TaskNotFound)) throw error;
    });
  }
  // Stryker disable next-line ObjectLiteral,StringLiteral: a held call reads what it holds, not its request
  const message: RpcRequest = { kind: 'request', id: held.id, method: 'tasks/result', params: { taskId: held.taskId } };
  const call = callOf(message, held.version, sender);
  return streamReply(new EventStream(hold(held, call, server)), server);
}

async function streamOfSession(eventId: string | undefined, sender: Sender, server: ServerContext): Promise<HttpReply> {
  const { request, principal, session } = sender;
  // Stryker disable next-line ObjectLiteral,StringLiteral: this stream does not read its request
  const message: RpcRequest = { kind: 'request', id: '', method: 'GET', params: {} };
  const call = callOf(message, session?.version ?? '', sender);
  if (!offersSessionStream(call, server) || !acceptsStream(request)) return notOffered();
  const { expires = 0 } = session ?? {};
  const fresh = { seen: [], activeAt: expires * 1_000 - limits.session, resumed: false };
  const cursor = eventId === undefined ? fresh : await openCursor(call, eventId, server);
  if (cursor === undefined) {
    server.audit('denied', { owner: listPartition(principal), reason: 'event_id' });
    return notOffered();
  }
  return streamReply(new EventStream(sessionStream(cursor, call, server)), server);
}

/**
 * Takes the client's answer to a question that was sent on a stream (B-19), by the same code as tasks/update. An answer
 * to a closed question is accepted and ignored. An invalid answer is refused, and the question is asked again.
 */
async function accept(message: RpcResponse, sender: Sender, server: ServerContext): Promise<void> {
  const { principal } = sender;
  const asked = await openQuestionId(sender, message.id, server);
  if (asked === undefined) {
    server.audit('denied', { owner: listPartition(principal), reason: 'answer_id' });
    throw new InvalidRequest('No request of this server is waiting for this answer');
  }
  const { taskId } = asked;
  const record = await findTask(principal, taskId, server);
  if (record === undefined) return;
  const key = openKey(record, asked);
  if (key === undefined) {
    logIgnored(record, 1);
    // If this answer is a repeat, the request before it may have crashed before it restarted the tool: restart it now.
    await answerTask(principal, taskId, {}, 'refuse', server);
    return;
  }
  const question = outstanding(record)[key];
  if (question !== undefined && message.result === undefined && question.method !== 'elicitation/create') {
    const now = server.now();
    const refused = failAsSeen(record, failure('ClientRefused', {}, question.method), now);
    await server.store.apply(record, overdue(record, now) ?? refused);
    return;
  }
  try {
    if (message.rounded !== undefined) throw new InvalidParams(roundedProblem(message.rounded));
    const answer = message.result === undefined ? { action: 'cancel' } : message.result;
    await answerTask(principal, taskId, responsesIn({ [key]: answer }, 'result'), 'refuse', server);
  } catch (error) {
    if (error instanceof InvalidParams) await refuse(record, asked, sender, server);
    throw error instanceof InvalidParams ? new InvalidParams(error.message, 400) : error;
  }
}

/**
 * Counts an answer that is not valid. Others at the same moment may come first, and each of them counts. The same one counts once, also
 * if it comes again, or if the answer of its write was lost.
 */
async function refuse(
  first: TaskRecord,
  asked: QuestionId,
  { principal }: Sender,
  server: ServerContext,
): Promise<void> {
  let record: TaskRecord | undefined = first;
  for (let attempt = 0; attempt < REFUSE_ATTEMPTS && record !== undefined; attempt++) {
    const key = openKey(record, asked);
    if (key === undefined || refusalsOf(record, key) !== asked.refusals) return;
    if (await server.store.apply(record, refuseAnswer(record, key, server.now()))) return;
    await server.sleep(Math.random() * 20 * attempt);
    record = await findTask(principal, asked.taskId, server);
  }
}

const findTask = (principal: Principal, taskId: string, server: ServerContext): Promise<TaskRecord | undefined> =>
  readTask(principal, taskId, server, { questions: true }).catch((error: unknown) => {
    if (error instanceof TaskNotFound) return undefined;
    throw error;
  });

/** Any other notification changes nothing. */
async function notice({ method, params }: RpcNotification, sender: Sender, server: ServerContext): Promise<void> {
  if (method === 'notifications/cancelled') await cancelRequest(sender, params.requestId, server);
}

export const legacy: Revision = { answer, notice, accept, stream };

function callOf(message: RpcRequest, version: string, { request, principal, session }: Sender): Call {
  return {
    ...message,
    wire: legacyWire,
    version,
    principal,
    accepts: session?.accepts ?? [],
    ...(session && { session: session.key }),
    tasks: version === LEGACY,
    request,
    replyHeaders: {},
  };
}
