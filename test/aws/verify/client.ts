import { setTimeout as sleep } from 'node:timers/promises';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';
import { modernMessage, TASKS } from '../../support/clients.ts';

type Credentials = ConstructorParameters<typeof SignatureV4>[0]['credentials'];
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
type Json = any;

/** Calls the endpoint of a server with `Auth.iam()`, in 2026-07-28. */
export interface VerifyClient {
  /** Sends one signed request, and returns the answer before its body. */
  send(
    method: string,
    body?: object,
    headers?: Record<string, string | undefined>,
    signal?: AbortSignal,
  ): Promise<Response>;
  /** The result. Throws with the error of the answer. `asTask`: the client declares tasks. @default true */
  request(method: string, params: Record<string, unknown>, asTask?: boolean): Promise<Json>;
  /** Calls a tool as a task, and answers its id. */
  start(name: string, args?: object): Promise<string>;
  /** Polls every second until the task has ended. Throws after `timeout` ms. */
  end(taskId: string, timeout: number): Promise<Json>;
}

export function verifyClient(endpoint: string, region: string, credentials: Credentials): VerifyClient {
  const signer = new SignatureV4({ service: 'execute-api', region, credentials, sha256: Sha256 });
  const { protocol, hostname, host, pathname } = new URL(endpoint);

  const send: VerifyClient['send'] = async (method, message, more = {}, signal) => {
    const body = message && JSON.stringify(message);
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { host, accept: 'application/json', ...json, ...more } as Record<string, string>;
    const unsigned = new HttpRequest({ method, protocol, hostname, path: pathname, headers, body });
    const signed = await signer.sign(unsigned);
    return fetch(endpoint, { method, headers: signed.headers, body: body ?? null, signal: signal ?? null });
  };
  const request: VerifyClient['request'] = async (method, params, asTask = true) => {
    const message = modernMessage(method, params, { capabilities: asTask ? TASKS : {} });
    const response = await send('POST', message.body, message.headers);
    const text = await response.text();
    const { result, error }: Json = text.startsWith('{') ? JSON.parse(text) : {};
    if (result === undefined) throw new Error(`${method}: HTTP ${response.status} ${JSON.stringify(error) ?? text}`);
    return result;
  };
  return {
    send,
    request,
    start: async (name, args = {}) => (await request('tools/call', { name, arguments: args })).taskId,
    async end(taskId, timeout) {
      for (const until = Date.now() + timeout; ; await sleep(1_000)) {
        const task = await request('tasks/get', { taskId });
        if (['completed', 'failed', 'cancelled'].includes(task.status)) return task;
        if (Date.now() > until) throw new Error(`after ${timeout / 1_000} s the task is still ${task.status}`);
      }
    },
  };
}
