import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { FORMS, modernMessage } from '../../../support/clients.ts';
import { readSse } from '../../../support/schema/sse.ts';
import { fakeServer, manifest } from './fake-server.ts';
import { everything, sure } from './legacy-server.ts';
import { endpoint } from './posted.ts';

export const OWNERS = ['owner#ann', 'owner#ben'] as const;
export type Owner = (typeof OWNERS)[number];

/** Every kind of thing that a client is given to bring back. */
export interface Given {
  readonly taskId: string;
  readonly session: string;
  readonly eventId: string;
  readonly sessionEventId: string;
  readonly question: string;
  readonly cursor: string;
  readonly filesCursor: string;
  /** The link of a file. */
  readonly file: string;
  /** Of a tool without a task, and of a call whose task asks. */
  readonly requestState: string;
  readonly heldState: string;
}
interface Sent {
  readonly method?: 'GET';
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
}

const FILE = { id: 'A'.repeat(22), name: 'a.txt', type: 'text/plain', bytes: 2, sha256: 'ab' };

/** What the tool `optional` needs here: a token of any caller but a `weak` one has it. */
export const NEEDED = ['mcp', 'ops:deploy'];
const tools: ServerContext['tools'] = new Map(
  [...fakeServer().server.tools].map(([name, tool]) => [
    name,
    name === 'optional' ? { ...tool, entry: { ...tool.entry, scopes: NEEDED } } : tool,
  ]),
);

/** The endpoint, by default behind a front door that verifies callers. Every task asks; time passes while the server sleeps. */
export function ownersServer(auth: 'oauth' | 'anonymous' = 'oauth', more: Partial<ServerContext> = {}) {
  let now = 1_700_000_000_000;
  const fake = fakeServer({
    manifest: {
      ...manifest,
      ...{ auth, helperTools: true },
      tools: manifest.tools.map((tool) => (tool.name === 'optional' ? { ...tool, files: true } : tool)),
    },
    files: {
      ...fakeServer().server.files,
      listFiles: async (owner) => ({
        files: fake.records
          .all()
          .flatMap(({ taskId, ...record }) => (record.owner === owner ? [{ owner, taskId, file: FILE }] : [])),
        last: 'here',
      }),
    },
    ...(auth === 'oauth' && { tools }),
    now: () => now,
    async sleep(ms) {
      await setImmediate();
      now += ms;
    },
    invoke: async () => ({ text: JSON.stringify({ inputRequests: sure, requestState: 'memory' }) }),
    workflow: {
      async start({ taskId }) {
        const task = fake.records.get(taskId);
        if (task === undefined) throw new Error('no such task');
        const asked = JSON.stringify({ inputRequests: sure });
        fake.records.set({ ...task, status: 'input_required', asked, arguments: '{}', deadlineAt: now * 2 });
      },
      stop: async () => {},
    },
    ...more,
  });
  const { store } = fake.server;
  const { list } = store;
  store.list = async (...asked) => ({ ...(await list(...asked)), last: 'here' });
  store.getMany = async (keys) => (await Promise.all(keys.map((key) => store.get(key)))).flatMap((got) => got ?? []);

  async function send(key: Owner, { method, headers = {}, body }: Sent, scopes: readonly string[] = NEEDED) {
    const caller = { key, scopes };
    const sent = Object.fromEntries(
      Object.entries(headers).filter((header): header is [string, string] => !!header[1]),
    );
    const request = {
      method: method ?? 'POST',
      headers: sent,
      body: JSON.stringify(body) ?? '',
      ...(auth === 'oauth' && { caller }),
    };
    const reply = await endpoint(request, fake.server);
    return { ...reply, body: typeof reply.body === 'string' ? reply.body : await text(reply.body) };
  }
  const wait = (ms: number) => {
    now += ms;
  };
  return { send, wait, store, did: fake.did, records: fake.records, audited: fake.audited };
}
export type OwnersServer = ReturnType<typeof ownersServer>;

export const legacy = (method: string, params: object, session?: string): Sent => ({
  headers: {
    'mcp-protocol-version': '2025-11-25',
    'mcp-session-id': session,
    accept: 'application/json, text/event-stream',
  },
  body: { jsonrpc: '2.0', id: 'q', method, params },
});
export function modern(method: string, params: Record<string, unknown>, capabilities?: object): Sent {
  const { body, headers } = modernMessage(method, params, capabilities && { capabilities });
  return { headers, body: { ...body, id: 'q' } };
}

/** A client of this owner uses the server until it has one of each kind. */
export async function use({ send }: OwnersServer, owner: Owner): Promise<Given> {
  const params = { protocolVersion: '2025-11-25', capabilities: everything, clientInfo: { name: 't', version: '1' } };
  const session = (await send(owner, legacy('initialize', params))).headers['mcp-session-id'] ?? '';
  const ask = async (method: string, more: object) =>
    JSON.parse((await send(owner, legacy(method, more, session))).body).result;
  const { taskId } = (await ask('tools/call', { name: 'optional', task: {} })).task;
  const opened = await send(owner, { ...legacy('GET', {}, session), method: 'GET', body: undefined as never });
  const held = await send(owner, legacy('tasks/result', { taskId }, session));
  const events = async (body: string) => {
    const all: { id?: string | undefined; data: { id?: string } | '' }[] = [];
    for await (const event of readSse(new Response(body))) all.push(event as never);
    return all;
  };
  const asked = await events(held.body);
  const question = asked.flatMap(({ data }) => (data === '' ? [] : (data.id ?? []))).find((id) => id !== 'q');
  const listed = await ask('resources/list', {});
  const direct = JSON.parse((await send(owner, modern('tools/call', { name: 'plain' }))).body);
  const inline = JSON.parse((await send(owner, modern('tools/call', { name: 'optional' }, FORMS))).body);
  return {
    ...{ taskId, session, question: question ?? '', requestState: direct.result.requestState },
    heldState: inline.result.requestState,
    eventId: asked[0]?.id ?? '',
    sessionEventId: (await events(opened.body))[0]?.id ?? '',
    cursor: (await ask('tasks/list', {})).nextCursor,
    filesCursor: listed.nextCursor,
    file: listed.resources[0].uri,
  };
}

/** Everything that can be done with something given: `own` is what the caller was given itself. */
export const OPERATIONS: Readonly<Record<string, { kind: keyof Given; send: (value: string, own: Given) => Sent }>> = {
  ...Object.fromEntries(
    ['tasks/get', 'tasks/result', 'tasks/cancel'].map((method) => [
      `2025-11-25 ${method}`,
      { kind: 'taskId', send: (taskId: string, own: Given) => legacy(method, { taskId }, own.session) } as const,
    ]),
  ),
  ...Object.fromEntries(
    ['tasks/get', 'tasks/update', 'tasks/cancel'].map((method) => [
      `2026-07-28 ${method}`,
      {
        kind: 'taskId',
        send: (taskId: string) => modern(method, { taskId, inputResponses: { 'r1.sure': {} } }),
      } as const,
    ]),
  ),
  ...Object.fromEntries(
    ['get_task_result', 'cancel_task'].flatMap((name) => [
      [
        `2026-07-28 ${name}`,
        { kind: 'taskId', send: (taskId: string) => modern('tools/call', { name, arguments: { taskId } }) } as const,
      ],
      [
        `2025-11-25 ${name}`,
        {
          kind: 'taskId',
          send: (id: string, own: Given) => legacy('tools/call', { name, arguments: { taskId: id } }, own.session),
        } as const,
      ],
    ]),
  ),
  '2026-07-28 tasks/get of an older client': {
    kind: 'taskId',
    send: (taskId) => modern('tasks/get', { taskId }, { tasks: {} }),
  },
  listen: { kind: 'taskId', send: (id) => modern('subscriptions/listen', { notifications: { taskIds: [id] } }) },
  ...Object.fromEntries(
    Object.entries({
      ...{ ping: {}, 'tools/list': {}, 'tasks/list': {}, 'logging/setLevel': { level: 'info' } },
      ...{ 'resources/list': {}, 'resources/templates/list': {} },
      'tools/call': { name: 'optional', task: {} },
    }).map(([method, params]) => [
      `${method} in a session`,
      { kind: 'session', send: (session: string) => legacy(method, params, session) } as const,
    ]),
  ),
  'the stream of a session': {
    kind: 'session',
    send: (session) => ({ method: 'GET', headers: { 'mcp-session-id': session } }),
  },
  cursor: { kind: 'cursor', send: (cursor, own) => legacy('tasks/list', { cursor }, own.session) },
  'cursor of files': { kind: 'filesCursor', send: (cursor, own) => legacy('resources/list', { cursor }, own.session) },
  '2025-11-25 resources/read': { kind: 'file', send: (uri, own) => legacy('resources/read', { uri }, own.session) },
  '2026-07-28 resources/read': { kind: 'file', send: (uri) => modern('resources/read', { uri }) },
  resume: {
    kind: 'eventId',
    send: (id, own) => ({ method: 'GET', headers: { 'last-event-id': id, 'mcp-session-id': own.session } }),
  },
  'resume a session': {
    kind: 'sessionEventId',
    send: (id, own) => ({ method: 'GET', headers: { 'last-event-id': id, 'mcp-session-id': own.session } }),
  },
  answer: {
    kind: 'question',
    send: (id, own) => ({
      headers: { 'mcp-session-id': own.session },
      body: { jsonrpc: '2.0', id, result: { action: 'accept', content: { ok: true } } },
    }),
  },
  'refuse to answer': {
    kind: 'question',
    send: (id, own) => ({
      headers: { 'mcp-session-id': own.session },
      body: { jsonrpc: '2.0', id, error: { code: -1, message: 'no' } },
    }),
  },
  'go on with a task': {
    kind: 'heldState',
    send: (requestState) => {
      const inputResponses = { 'r1.sure': { action: 'accept', content: { ok: true } } };
      return modern('tools/call', { name: 'optional', requestState, inputResponses }, FORMS);
    },
  },
  'go on': { kind: 'requestState', send: (requestState) => modern('tools/call', { name: 'plain', requestState }) },
};

export const REASONS: Readonly<Record<keyof Given, string>> = {
  ...{ taskId: 'not_found', session: 'session', cursor: 'cursor', question: 'answer_id' },
  ...{ filesCursor: 'cursor', file: 'file' },
  ...{ eventId: 'event_id', sessionEventId: 'event_id', requestState: 'request_state', heldState: 'request_state' },
};

/** One of the same form that no client has. */
export function unknown(value: string): string {
  const last = value.at(-2) === '0' ? '1' : '0';
  return `${value.slice(0, -2)}${last}${value.slice(-1)}`;
}
