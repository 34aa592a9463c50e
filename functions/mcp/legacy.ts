import { MethodNotFound } from '../tasks/errors.ts';
import type { Principal } from '../tasks/ids.ts';
import { type HttpReply, type HttpRequest, jsonReply } from './http.ts';
import { errorMessage, type RpcRequest, resultMessage } from './jsonrpc.ts';
import { methods } from './methods/index.ts';
import type { Server } from './server.ts';
import type { Session } from './session.ts';
import { LEGACY } from './versions.ts';
import { legacyWire } from './wire/2025-11-25.ts';

/**
 * One 2025-11-25 (or 2025-06-18) request. Every error from here on is HTTP 200: a 404 would tell the client that its
 * session has ended (requirements 1.5).
 */
export async function serveLegacy(
  request: HttpRequest,
  message: RpcRequest,
  version: string,
  session: Session | undefined,
  principal: Principal,
  server: Server,
): Promise<HttpReply> {
  const replyHeaders: Record<string, string> = {};
  try {
    const tasks = version === LEGACY;
    const method = methods.legacy.get(message.method);
    if (method === undefined || (message.method.startsWith('tasks/') && !tasks))
      throw new MethodNotFound(message.method);
    const accepts = session?.accepts ?? [];
    const call = { ...message, wire: legacyWire, version, principal, accepts, tasks, request, replyHeaders };
    return jsonReply(200, resultMessage(message.id, await method(call, server)), replyHeaders);
  } catch (error) {
    logUnexpected(error, message.method);
    return jsonReply(200, errorMessage(message.id, error).body, replyHeaders);
  }
}

/** For operators only; a client is told nothing of it. */
export function logUnexpected(error: unknown, method: string): void {
  if (error instanceof Error && 'code' in error && typeof error.code === 'number') return;
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  console.error(JSON.stringify({ event: 'unexpected_error', method, error: name, message }));
}
