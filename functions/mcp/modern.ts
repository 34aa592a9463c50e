import { decodeHeaderValue } from '../authorizer/header-value.ts';
import {
  HeaderMismatch,
  InvalidParams,
  MethodNotFound,
  MissingClientCapability,
  UnsupportedVersion,
} from '../tasks/errors.ts';
import { isObject } from '../tasks/shape.ts';
import { LOG_LEVELS } from '../tasks/table/session-notes.ts';
import type { ServerContext } from './context.ts';
import { type HttpReply, type HttpRequest, jsonReply } from './http/http.ts';
import { EventStream, streamReply } from './http/sse.ts';
import type { Sender } from './identity/session.ts';
import { methodOf, methods } from './methods/index.ts';
import { acceptedKinds, TASKS_CAPABILITY } from './protocol/capabilities.ts';
import { type RpcRequest, resultMessage } from './protocol/jsonrpc.ts';
import { MODERN, meta, SUPPORTED, TASKS_EXTENSION } from './protocol/versions.ts';
import type { Revision } from './revision.ts';
import { modernWire } from './wire/2026-07-28.ts';

/** The body field that the header Mcp-Name repeats, by method (docs/protocol.md 1.3, E-31). */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Answers one 2026-07-28 request: the checks of docs/protocol.md 1.2 in their order, then the method. */
async function answer(
  message: RpcRequest,
  version: string,
  { request, principal }: Sender,
  server: ServerContext,
): Promise<HttpReply> {
  const capabilities = envelope(message);
  const sent = request.headers['mcp-protocol-version'];
  if (sent !== version) throw mismatch('MCP-Protocol-Version', sent, version);
  if (version !== MODERN) throw new UnsupportedVersion(SUPPORTED, version);
  const methodHeader = request.headers['mcp-method'];
  if (methodHeader !== message.method) throw mismatch('Mcp-Method', methodHeader, message.method);
  const method =
    methodOf(methods.modern, message.method, server.manifest) ?? server.events?.methods.get(message.method);
  if (method === undefined) throw new MethodNotFound(message.method, { supported: SUPPORTED });
  checkName(request, message);
  const tasks = isObject(capabilities.extensions) && isObject(capabilities.extensions[TASKS_EXTENSION]);
  // F-04: a client that declares only the older capability may read and cancel older tasks.
  const older = isObject(capabilities.tasks) && ['tasks/get', 'tasks/cancel'].includes(message.method);
  if (message.method.startsWith('tasks/') && !tasks && !older) {
    throw new MissingClientCapability(`${message.method} is for clients that know tasks`, TASKS_CAPABILITY);
  }
  const replyHeaders: Record<string, string> = {};
  const result = await method(
    {
      ...message,
      wire: modernWire(server.manifest.serverInfo),
      version,
      principal,
      accepts: acceptedKinds(capabilities),
      tasks,
      request,
      replyHeaders,
    },
    server,
  );
  if (result instanceof EventStream) return streamReply(result, server, replyHeaders);
  return jsonReply(200, resultMessage(message.id, result), replyHeaders);
}

/** M1: every request says what its client can do (D-01). What else it says there is well-formed. */
function envelope({ params }: RpcRequest): Record<string, unknown> {
  const _meta = isObject(params._meta) ? params._meta : {};
  const capabilities = _meta[meta.clientCapabilities];
  if (!isObject(capabilities)) throw new InvalidParams(`_meta must hold '${meta.clientCapabilities}', an object`, 400);
  const info = _meta[meta.clientInfo];
  if (info !== undefined && !(isObject(info) && typeof info.name === 'string' && typeof info.version === 'string')) {
    throw new InvalidParams(`_meta['${meta.clientInfo}'] needs name and version`, 400);
  }
  // A known level has no effect (D-27).
  const level = _meta[meta.logLevel];
  if (level !== undefined && !LOG_LEVELS.some((known) => known === level))
    throw new InvalidParams(`_meta['${meta.logLevel}'] must be one of ${LOG_LEVELS.join(', ')}`, 400);
  return capabilities;
}

/**
 * M6: the header must match the body, because a router may use the header (D-05, D-06). Two clients in use never send
 * it for `tasks/*`, and the core table names it for `tools/call` only. So for tasks it may be missing, but not wrong
 * (E-31, X-33).
 */
function checkName(request: HttpRequest, { method, params }: RpcRequest): void {
  const field = NAMED_BY[method];
  if (field === undefined) return;
  const sent = request.headers['mcp-name'];
  const value = params[field];
  if (sent === undefined && field === 'taskId') return;
  if (sent === undefined) throw mismatch('Mcp-Name', sent, '');
  const decoded = decodeHeaderValue(sent);
  if (decoded === undefined) throw new HeaderMismatch('Mcp-Name is not valid base64');
  if (typeof value === 'string' && decoded !== value) throw mismatch('Mcp-Name', decoded, value);
}

function mismatch(name: string, sent: string | undefined, body: string): HeaderMismatch {
  if (sent === undefined) return new HeaderMismatch(`${name} is missing`);
  return new HeaderMismatch(`${name} '${sent.slice(0, 100)}' does not match body value '${body.slice(0, 100)}'`);
}

export const modern: Revision = { answer };
