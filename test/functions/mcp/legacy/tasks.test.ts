import { describe, expect, test, vi } from 'vitest';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { Headers_ } from '../../../support/clients.ts';
import { clockedServer, manifest, START } from '../support/fake-server.ts';
import { exchanged, modernCall } from '../support/posted.ts';

const HOUR = 3_600_000;
const NOT_FOUND = { code: -32602, message: 'Task not found' };

/** The endpoint. A test sets its clock, which goes on while it sleeps. */
function setup(over: Partial<ServerContext> = {}) {
  const { clock, server, records, did } = clockedServer(over);
  const send = (headers: Headers_, body: object) => exchanged(server, body, headers);

  async function session(capabilities: object = {}) {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } };
    const first = await send({}, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const headers = { 'mcp-session-id': first.headers['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' };
    const request = (method: string, params_: object = {}, more: Headers_ = {}) =>
      send({ ...headers, ...more }, { jsonrpc: '2.0', id: 1, method, params: params_ });
    const create = async (task: object = {}, name = 'optional'): Promise<string> =>
      (await request('tools/call', { name, task })).result.task.taskId;
    return { headers, initialized: first.result, request, create };
  }
  const modern = (method: string, params: Record<string, unknown>) => modernCall(server, method, params);
  return { records, did, clock, server, send, session, modern };
}

describe('tasks/list', () => {
  /** Made 1 ms apart, oldest first. */
  async function many(count: number) {
    const here = setup({ manifest: { ...manifest, maxOpenTasks: 1_000 } });
    const client = await here.session();
    const made: string[] = [];
    for (; made.length < count; here.clock.now++) made.push(await client.create());
    return { ...here, client, made };
  }

  test('has pages, newest first, each task once, also if more are made (A-20, C-23)', async () => {
    const { client, made } = await many(2 * limits.listPage + 7);
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const { result } = await client.request('tasks/list', cursor === undefined ? {} : { cursor });
      seen.push(...result.tasks.map(({ taskId }: { taskId: string }) => taskId));
      sizes.push(result.tasks.length);
      cursor = result.nextCursor;
      more = cursor !== undefined;
      await client.create();
    }
    expect(sizes).toEqual([limits.listPage, limits.listPage, 7]);
    expect(seen).toEqual(made.toReversed());
  });

  test('a cursor gives the same page again; a cut, forged or foreign one gives none (A-20, C-24)', async () => {
    const { client, session, server } = await many(limits.listPage + 1);
    const { nextCursor } = (await client.request('tasks/list')).result;
    const page = (await client.request('tasks/list', { cursor: nextCursor })).result;
    expect(page).toEqual({ tasks: [expect.objectContaining({ status: 'working' })] });
    expect((await client.request('tasks/list', { cursor: nextCursor })).result).toEqual(page);
    const [payload = '', mac = ''] = nextCursor.split('.');
    const forged = Buffer.from('"zzz"').toString('base64url');
    const flipped = nextCursor.replace(/.$/, (c: string) => (c === 'A' ? 'B' : 'A'));
    const sealed = await server.signer.seal('cursor:session#x', 'x');
    const bad = ['', 'x', payload, `${payload}.`, `${forged}.${mac}`, `${nextCursor}.x`, flipped, sealed, 5, null];
    const refused = { status: 200, error: { code: -32602, message: 'cursor is not one of this list' } };
    for (const cursor of [...bad, client.headers['mcp-session-id']]) {
      expect(await client.request('tasks/list', { cursor }), String(cursor)).toMatchObject(refused);
    }
    expect(await (await session()).request('tasks/list', { cursor: nextCursor })).toMatchObject(refused);
  });

  test('is offered only in sessions, which tell anonymous callers apart (C-02)', async () => {
    const { session, send } = setup();
    const [client, other] = [await session(), await session()];
    expect(client.initialized.capabilities.tasks).toHaveProperty('list');
    await client.create();
    expect((await other.request('tasks/list')).result).toEqual({ tasks: [] });
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/list', params: {} };
    const { status, error } = await send({ 'mcp-protocol-version': '2025-11-25' }, body);
    expect([status, error]).toEqual([200, { code: -32602, message: expect.stringContaining('MCP-Session-Id') }]);
  });
});

describe('the end of a task’s life', () => {
  test('it is there until createdAt + ttl, then unknown to every method (C-28, C-38, E-28)', async () => {
    const { session, modern, clock, records } = setup();
    const client = await session();
    const [done, cancelled] = [await client.create({ ttl: HOUR }), await client.create({ ttl: HOUR })];
    const record = records.get(done);
    if (record) records.set({ ...record, status: 'completed', result: '5', updatedAt: START + HOUR - 2 });
    await client.request('tasks/cancel', { taskId: cancelled });
    clock.now = START + HOUR - 1;
    for (const taskId of [done, cancelled]) {
      expect((await client.request('tasks/get', { taskId })).result).toMatchObject({ taskId, ttl: HOUR });
      expect((await modern('tasks/get', { taskId })).result).toMatchObject({ taskId, ttlMs: HOUR });
    }
    expect((await client.request('tasks/result', { taskId: done })).result.content).toEqual([
      { type: 'text', text: '5' },
    ]);
    expect((await client.request('tasks/list')).result.tasks).toHaveLength(2);

    clock.now = START + HOUR;
    for (const taskId of [done, cancelled]) {
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        expect((await client.request(method, { taskId })).error, method).toEqual(NOT_FOUND);
      }
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        expect((await modern(method, { taskId, inputResponses: {} })).error, method).toEqual(NOT_FOUND);
      }
    }
    expect((await client.request('tasks/list')).result).toEqual({ tasks: [] });
    expect(records.get(done)?.status).toBe('completed');
  });

  test('an unfinished task has failed after its deadline and the grace, and stays (C-38, E-28)', async () => {
    const { session, clock } = setup();
    const client = await session();
    const taskId = await client.create();
    clock.now = START + 60_000 + limits.deadlineGrace;
    expect((await client.request('tasks/get', { taskId })).result.status).toBe('working');
    clock.now += 1;
    const failed = { status: 'failed', statusMessage: 'The tool did not finish in time' };
    expect((await client.request('tasks/get', { taskId })).result).toMatchObject(failed);
    clock.now = START + HOUR - 1;
    expect((await client.request('tasks/get', { taskId })).result).toMatchObject(failed);
  });

  test('it goes also under a stream that waits for it (C-38)', async () => {
    const { session, records } = setup();
    const client = await session();
    const taskId = await client.create();
    const record = records.get(taskId);
    if (record) records.set({ ...record, ttl: 30_000, deadlineAt: START + HOUR });
    const { raw } = await client.request('tasks/result', { taskId });
    const last = raw.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last.slice('data: '.length))).toEqual({ jsonrpc: '2.0', id: 1, error: NOT_FOUND });
  });
});

describe('making a task', () => {
  test('the record lies there before the work starts, and both before the answer (C-12)', async () => {
    const { session, records, did } = setup();
    const client = await session();
    const taskId = await client.create();
    expect(did).toEqual(['create', 'start']);
    expect(records.get(taskId)).toMatchObject({ status: 'working', round: 1 });
    expect((await client.request('tasks/get', { taskId })).result.status).toBe('working');
  });

  test('if it cannot be stored, nothing starts, and no task is named (A-15, C-12)', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { server, send, did } = setup();
    Object.assign(server.store, { create: () => Promise.reject(new Error('secret')) });
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'optional', task: {} } };
    const reply = await send({ 'mcp-protocol-version': '2025-11-25' }, body);
    expect(reply.error).toEqual({ code: -32603, message: 'Internal error' });
    expect(did).toEqual([]);
    log.mockRestore();
  });

  test("the text for the model is the tool's own, if it has one (C-13)", async () => {
    const own = manifest.tools.map((tool) => ({ ...tool, immediateResponse: `Wait for ${tool.name}` }));
    const tools = new Map(own.map((entry) => [entry.name, { entry, validate: () => true, validateOutput: undefined }]));
    const client = await setup({ tools }).session();
    const { result } = await client.request('tools/call', { name: 'required', task: {} });
    expect(result._meta).toEqual({ 'io.modelcontextprotocol/model-immediate-response': 'Wait for required' });
  });

  test('refused arguments: a failed task whose result says why (A-14, C-09, C-16, C-29)', async () => {
    const picky = manifest.tools.map((tool) => ({
      ...tool,
      taskSupport: 'optional' as const,
      engine: 'standard' as const,
    }));
    const validate = Object.assign(() => false, { errors: [{ instancePath: '/n', message: 'must be number' }] });
    const tools = new Map(picky.map((entry) => [entry.name, { entry, validate, validateOutput: undefined }]));
    const { session, did } = setup({ tools });
    const client = await session();
    const taskId = await client.create({}, 'picky');
    expect(did).toEqual(['create']);
    const why = 'Invalid arguments for tool picky: n must be number';
    expect((await client.request('tasks/get', { taskId })).result).toMatchObject({
      status: 'failed',
      statusMessage: why,
    });
    expect((await client.request('tasks/result', { taskId })).result).toMatchObject({
      isError: true,
      content: [{ text: why }],
    });
  });
});

describe('reading a task', () => {
  test('params.taskId decides, not the metadata (C-34)', async () => {
    const client = await setup().session();
    const [taskId, other] = [await client.create(), await client.create()];
    const _meta = { 'io.modelcontextprotocol/related-task': { taskId: other } };
    expect((await client.request('tasks/get', { taskId, _meta })).result.taskId).toBe(taskId);
    expect((await client.request('tasks/cancel', { taskId, _meta })).result).toMatchObject({
      taskId,
      status: 'cancelled',
    });
    expect((await client.request('tasks/result', { taskId, _meta })).error.message).toBe('Task was cancelled');
    expect((await client.request('tasks/get', { taskId: other })).result.status).toBe('working');
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect((await client.request(method, { _meta })).error).toEqual(NOT_FOUND);
    }
  });

  test('tasks/get, list and cancel are JSON, never a stream, without related task (C-14, C-15)', async () => {
    const client = await setup().session();
    const taskId = await client.create();
    const accept = 'text/event-stream, application/json;q=0.1';
    for (const method of ['tasks/get', 'tasks/list', 'tasks/cancel']) {
      const { headers, raw } = await client.request(method, { taskId }, { accept });
      expect([method, headers['content-type']]).toEqual([method, 'application/json']);
      expect(raw).not.toContain('related-task');
    }
  });

  test('the revision of the request counts, not the revision of the task (F-01, F-05, F-11)', async () => {
    const { session, modern, did } = setup();
    const client = await session();
    const old = await client.create();
    const { taskId } = (await modern('tools/call', { name: 'optional' })).result;
    expect([old, taskId].map((id) => id.slice(-36))).toEqual([1, 2].map(() => expect.stringMatching(/^[0-9a-z]{36}$/)));
    for (const id of [old, taskId]) {
      expect((await client.request('tasks/get', { taskId: id })).result).toMatchObject({ taskId: id, ttl: HOUR });
      expect((await modern('tasks/get', { taskId: id })).result).toMatchObject({ taskId: id, ttlMs: HOUR });
    }
    expect((await client.request('tasks/cancel', { taskId })).result).toMatchObject({ taskId, status: 'cancelled' });
    expect((await modern('tasks/cancel', { taskId: old })).result).toMatchObject({ resultType: 'complete' });
    expect(did.filter((what) => what === 'apply')).toHaveLength(2);
  });
});
