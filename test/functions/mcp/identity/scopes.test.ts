import { describe, expect, test, vi } from 'vitest';
import { fakeServer, manifest } from '../support/fake-server.ts';
import {
  type Given,
  legacy,
  modern,
  NEEDED,
  OPERATIONS,
  OWNERS,
  type OwnersServer,
  ownersServer,
  use,
} from '../support/owners-server.ts';

const [ann] = OWNERS;
/** A token of the same user that lacks `ops:deploy`: of another client, say. */
const WEAK = ['mcp'];
const refusal = {
  code: -32600,
  message: 'Forbidden: get a token with the scopes mcp ops:deploy',
  data: { reason: 'InsufficientScope', scopes: NEEDED },
};

/** What a request did to tasks: reads do no harm. */
const changes = ({ did, records }: OwnersServer) => JSON.stringify([did.filter((one) => one !== 'get'), records.all()]);

async function refused(here: OwnersServer, sent: Parameters<OwnersServer['send']>[1], id: string | undefined = 'q') {
  const before = changes(here);
  here.audited.splice(0);
  const { status, body } = await here.send(ann, sent, WEAK);
  expect([status, JSON.parse(body)]).toEqual([403, { jsonrpc: '2.0', ...(id && { id }), error: refusal }]);
  expect(changes(here)).toBe(before);
  const about = { event: 'audit', action: 'denied', owner: ann, reason: 'insufficient_scope' };
  expect(here.audited.map((line) => JSON.parse(line))).toEqual([expect.objectContaining(about)]);
}

describe('a token without the scopes of a tool is refused before anything is shown or changed (G-09)', () => {
  const kinds: (keyof Given)[] = ['taskId', 'eventId', 'question', 'heldState'];
  const about = Object.entries(OPERATIONS).filter(
    ([name, { kind }]) => kinds.includes(kind) || /tools\/call/.test(name),
  );

  test('every way to a task is among them', () => {
    expect(about.length).toBeGreaterThan(15);
  });

  test.each(about)('%s', async (_operation, { kind, send }) => {
    const here = ownersServer();
    const own = await use(here, ann);
    const sent = send(own[kind], own);
    await refused(here, sent, kind === 'question' || kind === 'eventId' ? '' : 'q');
    // With the scope above it is served.
    expect((await here.send(ann, sent, ['mcp', 'ops'])).status).toBeLessThan(300);
  });

  test.each(['tools/call', 'plain', undefined])('a 2026-07-28 call whose Mcp-Name says %s', async (name) => {
    const call = modern('tools/call', { name: 'optional' });
    await refused(ownersServer(), { ...call, headers: { ...call.headers, 'mcp-name': name } });
  });

  test('a 2025-11-25 call in the body of a request that claims to be another', async () => {
    const call = legacy('tools/call', { name: 'optional', task: {} });
    await refused(ownersServer(), { ...call, headers: { ...call.headers, 'mcp-method': 'tools/list' } });
  });

  test('one of several tasks that are listened to', async () => {
    const here = ownersServer();
    const { taskId } = await use(here, ann);
    const open = JSON.parse((await here.send(ann, modern('tools/call', { name: 'required' }), WEAK)).body).result;
    await refused(here, modern('subscriptions/listen', { notifications: { taskIds: [open.taskId, taskId] } }));
  });

  test('a task whose tool is gone: by what the tool needed', async () => {
    const tools = new Map(fakeServer().server.tools);
    const here = ownersServer('oauth', { tools });
    const { entry, ...tool } = tools.get('optional') ?? expect.unreachable();
    tools.set('optional', { ...tool, entry: { ...entry, scopes: NEEDED } });
    const { taskId } = await use(here, ann);
    tools.delete('optional');
    await refused(here, modern('tasks/get', { taskId }));
    expect((await here.send(ann, modern('tasks/get', { taskId }))).status).toBe(200);
  });
});

test('a tool that needs nothing more any longer gives its tasks to every token', async () => {
  const tools = new Map(fakeServer().server.tools);
  const here = ownersServer('oauth', { tools });
  const opened = tools.get('optional') ?? expect.unreachable();
  tools.set('optional', { ...opened, entry: { ...opened.entry, scopes: NEEDED } });
  const { taskId } = await use(here, ann);
  tools.set('optional', opened);
  expect((await here.send(ann, modern('tasks/get', { taskId }), WEAK)).status).toBe(200);
});

test.each(['\ud800', 'x'.repeat(20_000), { toString: 1 }, ['optional'], undefined, '__proto__'])(
  'a call of an unknown tool needs no scopes: %j',
  async (name) => {
    const call = modern('tools/call', { name });
    const { body } = await ownersServer().send(ann, { ...call, headers: { 'mcp-name': 'x', ...call.headers } }, []);
    expect([-32602, -32020]).toContain(JSON.parse(body).error.code);
  },
);

describe('what shows many tasks leaves out those that the token is not enough for (G-16)', () => {
  test('tasks/list', async () => {
    const here = ownersServer();
    const { taskId, session } = await use(here, ann);
    const made = legacy('tools/call', { name: 'required', task: {} }, session);
    const open = JSON.parse((await here.send(ann, made, WEAK)).body).result.task;
    const list = async (scopes?: string[]) => (await here.send(ann, legacy('tasks/list', {}, session), scopes)).body;
    expect(await list()).toContain(taskId);
    const [listed, ...more] = JSON.parse(await list(WEAK)).result.tasks;
    expect([listed.taskId, more]).toEqual([open.taskId, []]);
  });

  test("a session's own stream", async () => {
    const here = ownersServer();
    const capabilities = { elicitation: {} };
    const start = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 't', version: '1' } };
    const session = (await here.send(ann, legacy('initialize', start))).headers['mcp-session-id'];
    const call = legacy('tools/call', { name: 'optional', task: {} }, session);
    const { taskId } = JSON.parse((await here.send(ann, call)).body).result.task;
    await here.send(ann, legacy('tasks/get', { taskId }, session));
    here.wait(60_000);
    const stream = { method: 'GET', headers: { 'mcp-session-id': session, accept: 'text/event-stream' } } as const;
    const weak = await here.send(ann, stream, WEAK);
    expect([weak.status, weak.body.includes('elicitation/create')]).toEqual([200, false]);
    expect((await here.send(ann, stream)).body).toContain('elicitation/create');
  });
});

test.each(['ThrottlingException', 'Error'])(
  'a resumed stream shows nothing without the scopes when a read fails with %s (G-09)',
  async (name) => {
    const here = ownersServer();
    const own = await use(here, ann);
    vi.spyOn(here.store, 'get').mockRejectedValueOnce(Object.assign(new Error('slow down'), { name }));
    const { status, body } = await here.send(ann, OPERATIONS.resume?.send(own.eventId, own) as never, WEAK);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(body).not.toContain('Sure');
  },
);

test('a resumed stream of a task that is gone says so on the stream (C-28)', async () => {
  const here = ownersServer();
  const own = await use(here, ann);
  here.records.clear();
  const { status, body } = await here.send(ann, OPERATIONS.resume?.send(own.eventId, own) as never);
  expect([status, body]).toEqual([200, expect.stringContaining('Task not found')]);
});

test("the endpoint checks the server's scopes, too: the authorizer's answer may be cached (G-09)", async () => {
  const strict = ownersServer('oauth', { manifest: { ...manifest, auth: 'oauth', scopes: ['mcp', 'tasks'] } });
  const { status, body } = await strict.send(ann, modern('tools/list', {}), WEAK);
  expect(status).toBe(403);
  expect(JSON.parse(body)).toMatchObject({ error: { data: { scopes: ['mcp', 'tasks'] } } });
  expect((await strict.send(ann, modern('tools/list', {}), ['mcp', 'tasks'])).status).toBe(200);
});
