import type { Manifest } from '../../../../functions/mcp/manifest.ts';
import { apart } from '../../../../functions/tasks/s3/moved-input.ts';
import type { Headers_ } from '../../../support/clients.ts';
import { ALL_KINDS, clockedServer, manifest } from './fake-server.ts';
import { exchanged, type Message } from './posted.ts';

const caller = { key: `owner#${'o'.repeat(26)}`, scopes: [], enough: true, expires: 9e15, challengeAt: '/challenge' };

/**
 * The endpoint with a tool that asks, and returns what it was answered. Time passes only while the server sleeps.
 *
 * @param rounds the questions of each round; without any the tool works until the test changes its record
 */
export function legacyServer(...rounds: object[]) {
  return legacyServerWith({}, ...rounds);
}

export function legacyServerWith(settings: Partial<Manifest>, ...rounds: object[]) {
  const { server, records, did, clock, change, at, elapsed } = clockedServer({
    manifest: { ...manifest, ...settings },
    workflow: {
      async start({ taskId, round }, input) {
        did.push('start');
        const deadlineAt = clock.now + 3_600_000;
        if (rounds.length === 0) return change(taskId, { deadlineAt });
        const inputRequests = rounds[round - 1];
        const asked = JSON.stringify({ inputRequests });
        const waiting = { status: 'input_required', asked, accepts: ALL_KINDS, arguments: '{}', deadlineAt } as const;
        const record = records.get(taskId);
        if (inputRequests !== undefined && record !== undefined) {
          // As the workflow writes it: large questions lie in S3 from the first moment.
          const stored = apart({ ...record, ...waiting, updatedAt: clock.now });
          if (stored.text !== undefined) await server.inputs.put(stored.record, stored.text);
          return void records.set(stored.record);
        }
        change(taskId, { status: 'completed', result: JSON.stringify(JSON.parse(input).inputResponses) });
      },
      stop: async () => {},
    },
  });
  const front = settings.auth === 'iam' ? { caller } : {};
  const send = (headers: Headers_, body?: object, on?: (message: Message) => unknown) =>
    exchanged(server, body, headers, on, front);

  async function session(capabilities: object = everything, version = '2025-11-25') {
    const params = { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } };
    const first = await send({}, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const headers = { 'mcp-session-id': first.headers['mcp-session-id'], 'mcp-protocol-version': version };
    let id = 0;
    const request = (method: string, params_: object, on?: (message: Message) => unknown) =>
      send(headers, { jsonrpc: '2.0', id: `q${++id}`, method, params: params_ }, on);
    const respond = (to: unknown, result: unknown) => send(headers, { jsonrpc: '2.0', id: to, result });
    return {
      ...{ headers, request, respond, post: (body: object) => send(headers, body) },
      /** The session's own stream, or with an event id whichever it belongs to. */
      listen: (eventId?: string, on?: (message: Message) => unknown) =>
        send({ ...headers, accept: 'text/event-stream', 'last-event-id': eventId }, undefined, on),
      resume: (eventId: string) => send({ ...headers, 'last-event-id': eventId }),
      create: async (): Promise<string> =>
        (await request('tools/call', { name: 'optional', task: {} })).messages[0].result.task.taskId,
      /** Waits for the result and gives one answer to all that is asked. */
      settle: (taskId: string, answer: unknown) =>
        request('tasks/result', { taskId }, ({ id, method }) => method !== undefined && respond(id, answer)),
    };
  }
  return {
    ...{ server, did, session, records, send, clock, change, at, elapsed },
    now: () => clock.now,
    wait(ms: number) {
      clock.now += ms;
    },
  };
}

export const RELATED = 'io.modelcontextprotocol/related-task';
export const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
export const YES = { action: 'accept', content: { ok: true } };
export const ok = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
export const form = (message: string) => ({ method: 'elicitation/create', params: { message, requestedSchema: ok } });
export const sure = { sure: form('Sure?') };
export const two = { first: form('First?'), second: form('Second?') };
