import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endpoint } from '../../../functions/mcp/endpoint.ts';
import { methods } from '../../../functions/mcp/methods/index.ts';
import { FORMS, modernMessage } from '../../support/clients.ts';
import { readSse } from '../../support/schema/sse.ts';
import { fakeServer, manifest } from './fake-server.ts';
import { everything, sure } from './legacy-world.ts';

const OWNERS = ['owner#ann', 'owner#ben'] as const;
type Owner = (typeof OWNERS)[number];

/** Every kind of thing that a client is given to bring back. */
interface Given {
  readonly taskId: string;
  readonly session: string;
  readonly eventId: string;
  readonly sessionEventId: string;
  readonly question: string;
  readonly cursor: string;
  /** Of a tool without a task, and of a call whose task asks. */
  readonly requestState: string;
  readonly heldState: string;
}
interface Sent {
  readonly method?: 'GET';
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
}

/** The endpoint behind a front door that verifies callers. Every task asks; time passes while the server sleeps. */
function world() {
  let now = 1_700_000_000_000;
  const fake = fakeServer({
    manifest: { ...manifest, auth: 'oauth', helperTools: true },
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
        fake.records.set(taskId, { ...task, status: 'input_required', asked, arguments: '{}', deadlineAt: now * 2 });
      },
      stop: async () => {},
    },
  });
  const { store } = fake.server;
  const { list } = store;
  store.list = async (...asked) => ({ ...(await list(...asked)), last: 'here' });
  store.getMany = async (keys) => (await Promise.all(keys.map((key) => store.get(key)))).flatMap((got) => got ?? []);

  async function send(key: Owner, { method, headers = {}, body }: Sent) {
    const caller = { key, scopes: [], enough: true, expires: Number.POSITIVE_INFINITY, challengeAt: '/mcp/challenge' };
    const sent = Object.fromEntries(
      Object.entries(headers).filter((header): header is [string, string] => !!header[1]),
    );
    const request = { method: method ?? 'POST', headers: sent, body: JSON.stringify(body) ?? '', caller };
    const reply = await endpoint(request, fake.server);
    return { ...reply, body: typeof reply.body === 'string' ? reply.body : await text(reply.body) };
  }
  return { send, records: fake.records, audited: fake.audited };
}
type World = ReturnType<typeof world>;

const legacy = (method: string, params: object, session?: string): Sent => ({
  headers: {
    'mcp-protocol-version': '2025-11-25',
    'mcp-session-id': session,
    accept: 'application/json, text/event-stream',
  },
  body: { jsonrpc: '2.0', id: 'q', method, params },
});
function modern(method: string, params: Record<string, unknown>, capabilities?: object): Sent {
  const { body, headers } = modernMessage(method, params, capabilities && { capabilities });
  return { headers, body: { ...body, id: 'q' } };
}

/** A client of this owner uses the server until it has one of each kind. */
async function use({ send }: World, owner: Owner): Promise<Given> {
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
  const direct = JSON.parse((await send(owner, modern('tools/call', { name: 'plain' }))).body);
  const inline = JSON.parse((await send(owner, modern('tools/call', { name: 'optional' }, FORMS))).body);
  return {
    ...{ taskId, session, question: question ?? '', requestState: direct.result.requestState },
    heldState: inline.result.requestState,
    eventId: asked[0]?.id ?? '',
    sessionEventId: (await events(opened.body))[0]?.id ?? '',
    cursor: (await ask('tasks/list', {})).nextCursor,
  };
}

/** Everything that can be done with something given: `own` is what the caller was given itself. */
const OPERATIONS: Readonly<Record<string, { kind: keyof Given; send: (value: string, own: Given) => Sent }>> = {
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

const REASONS: Readonly<Record<keyof Given, string>> = {
  ...{ taskId: 'not_found', session: 'session', cursor: 'cursor', question: 'answer_id' },
  ...{ eventId: 'event_id', sessionEventId: 'event_id', requestState: 'request_state', heldState: 'request_state' },
};

/** One of the same form that nobody was given. */
function unknown(value: string): string {
  const last = value.at(-2) === '0' ? '1' : '0';
  return `${value.slice(0, -2)}${last}${value.slice(-1)}`;
}

test("two owners, whoever does what in whatever order: what is the other one's is as unknown as what is nobody's, and stays as it is (C-28, E-15, F-15, G-15)", async () => {
  const step = fc.record({
    who: fc.integer({ min: 0, max: 1 }),
    operation: fc.constantFrom(...Object.keys(OPERATIONS)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const here = world();
      const given = [await use(here, OWNERS[0]), await use(here, OWNERS[1])];
      for (const { who, operation } of steps) {
        const [own, other] = [given[who], given[1 - who]];
        const does = OPERATIONS[operation];
        const me = OWNERS[who];
        if (own === undefined || other === undefined || does === undefined || me === undefined) throw new Error('no');
        const foreign = other[does.kind];
        const before = JSON.stringify([...here.records.values()]);
        here.audited.splice(0);
        const seen = await here.send(me, does.send(foreign, own));
        const told = here.audited.splice(0);
        const [same, nothing] = [seen.body.replaceAll(foreign, '*'), unknown(foreign)];
        const expected = await here.send(me, does.send(nothing, own));
        expect([operation, seen.status, same]).toEqual([
          operation,
          expected.status,
          expected.body.replaceAll(nothing, '*'),
        ]);
        expect(seen.headers).toEqual(expected.headers);
        // The log says so, and gives nothing away that opens anything.
        const reason = REASONS[does.kind];
        const taskId = does.kind === 'taskId' ? { taskId: foreign } : {};
        expect(told).toEqual([JSON.stringify({ event: 'audit', action: 'denied', owner: me, ...taskId, reason })]);
        expect(JSON.stringify([...here.records.values()])).toBe(before);
      }
    }),
    { numRuns: 25 },
  );
});

test.each(Object.keys(OPERATIONS))("and what is one's own is not refused: %s", async (operation) => {
  const here = world();
  const own = await use(here, OWNERS[0]);
  const does = OPERATIONS[operation];
  if (does === undefined) throw new Error('no');
  const mine = await here.send(OWNERS[0], does.send(own[does.kind], own));
  const nobodys = await here.send(OWNERS[0], does.send(unknown(own[does.kind]), own));
  expect([mine.status, mine.body]).not.toEqual([nobodys.status, nobodys.body]);
  expect(mine.status).toBeLessThan(300);
});

test('every method of both revisions is among them, but those that are given nothing to bring back', () => {
  const all = [...methods.legacy.keys(), ...methods.modern.keys()];
  const missing = all.filter((method) => !Object.keys(OPERATIONS).some((operation) => operation.includes(method)));
  expect(missing.filter((method) => method !== 'subscriptions/listen')).toEqual(['initialize', 'server/discover']);
});

test.each(['2025-11-25', '2026-07-28'])(
  'an idempotency key of one owner says nothing to another: the same key, with other arguments, is a task of their own (%s)',
  async (era) => {
    const here = world();
    const call = async (who: Owner, n: number) => {
      const params = { name: 'optional', arguments: { n }, ...(era === '2025-11-25' && { task: {} }) };
      const sent = era === '2025-11-25' ? legacy('tools/call', params) : modern('tools/call', params);
      const { body } = await here.send(who, { ...sent, headers: { ...sent.headers, 'idempotency-key': 'the same' } });
      const { result, error } = JSON.parse(body);
      return error?.message ?? result.task?.taskId ?? result.taskId;
    };
    const [anns, bens] = [await call(OWNERS[0], 1), await call(OWNERS[1], 2)];
    expect([here.records.get(anns)?.owner, here.records.get(bens)?.owner]).toEqual([...OWNERS]);
    expect(await call(OWNERS[0], 1)).toBe(anns);
    expect(await call(OWNERS[1], 1)).toMatch(/was used for another call/);
  },
);

test("a list holds all of one's own tasks, and no other (C-23)", async () => {
  const here = world();
  const given = [await use(here, OWNERS[0]), await use(here, OWNERS[1])];
  for (const [at, owner] of OWNERS.entries()) {
    const { body } = await here.send(owner, legacy('tasks/list', {}, given[at]?.session));
    const listed = JSON.parse(body).result.tasks.map(({ taskId }: { taskId: string }) => taskId);
    const own = [...here.records.values()].filter((record) => record.owner === owner).map(({ taskId }) => taskId);
    expect(listed.toSorted()).toEqual(own.toSorted());
    expect(listed.length).toBeGreaterThan(0);
  }
});
