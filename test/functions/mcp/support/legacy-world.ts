import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Manifest } from '../../../../functions/mcp/manifest.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import type { Answer } from '../../../support/clients.ts';
import { exchange, judged } from '../../../support/schema/exchange.ts';
import { fakeServer, manifest } from './fake-server.ts';
import { endpoint } from './posted.ts';

export type Message = Answer['body'];
type Headers = Readonly<Record<string, string | undefined>>;

const caller = { key: `owner#${'o'.repeat(26)}`, scopes: [], enough: true, expires: 9e15, challengeAt: '/challenge' };

/** The endpoint with a tool that asks, and returns what it was answered. Time passes only while the server sleeps. */
export function world(...rounds: object[]) {
  return worldWith({}, ...rounds);
}

export function worldWith(settings: Partial<Manifest>, ...rounds: object[]) {
  const clock = { now: 1_700_000_000_000 };
  const { server, records, did } = fakeServer({
    manifest: { ...manifest, ...settings },
    now: () => clock.now,
    async sleep(ms) {
      await setImmediate();
      clock.now += ms;
    },
    workflow: {
      async start({ taskId, round }, _machine, input) {
        did.push('start');
        const inputRequests = rounds[round - 1];
        const asked = JSON.stringify({ inputRequests });
        const deadlineAt = clock.now + 3_600_000;
        // As if by a client that can be asked everything.
        const accepts = ['elicitation/create', 'elicitation/create:url', 'sampling/createMessage', 'roots/list'];
        const waiting = { status: 'input_required', asked, accepts, arguments: '{}', deadlineAt } as const;
        if (inputRequests !== undefined) return change(taskId, waiting);
        change(taskId, { status: 'completed', result: JSON.stringify(JSON.parse(input).inputResponses) });
      },
      stop: async () => {},
    },
  });
  function change(taskId: string, set: Partial<TaskRecord>) {
    records.set(taskId, { ...(records.get(taskId) as TaskRecord), updatedAt: clock.now, ...set });
  }

  async function send(headers: Headers, body?: object, on: (message: Message) => unknown = () => {}) {
    const method = body === undefined ? 'GET' : 'POST';
    const request = {
      ...{ method, headers: headers as Record<string, string>, body: JSON.stringify(body) ?? '' },
      ...(settings.auth === 'iam' && { caller }),
    };
    const reply = await endpoint(request, server);
    const bytes =
      typeof reply.body === 'string' ? reply.body : Readable.toWeb(reply.body.map((part) => Buffer.from(part)));
    const response = new Response((bytes || null) as string | null, { status: reply.status, headers: reply.headers });
    const messages: Message[] = [];
    const eventIds: string[] = [];
    let retry: number | undefined;
    for await (const { id, data, retry: after } of judged(response, exchange(body, headers))) {
      if (id !== undefined) eventIds.push(id);
      if (after !== undefined) retry = after;
      if (data === '') continue;
      messages.push(data);
      await on(data);
    }
    return { ...reply, messages, eventIds, retry };
  }

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
    server,
    did,
    session,
    records,
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
