import { describe, expect, test } from 'vitest';
import type { Tool } from '../../../functions/mcp/context.ts';
import { asOf } from '../../../functions/tasks/deadlines.ts';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { TASKS } from '../../support/clients.ts';
import { clients } from './support/fake-clients.ts';
import { fakeServer, manifest } from './support/fake-server.ts';

describe('what the server says about itself', () => {
  test('initialize: legacy capabilities, newest version as fallback (B-01 to B-03, C-01, F-02)', async () => {
    const { legacy } = clients();
    const { result } = await legacy('initialize', { protocolVersion: '2025-11-25', capabilities: TASKS });
    expect(result).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, logging: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      serverInfo: { name: 'fake', version: '1' },
    });
    for (const protocolVersion of ['2024-11-05', '2026-07-28', '2030-01-01']) {
      const other = await legacy('initialize', { protocolVersion, capabilities: {} });
      expect(other.result).toMatchObject({ protocolVersion: '2025-11-25' });
    }
    const wrong = await legacy('initialize', { protocolVersion: 5, capabilities: {} });
    expect(wrong.error?.code).toBe(-32602);
  });

  test('2025-06-18: no tasks capability, no tasks methods, params.task ignored (B-21, C-03)', async () => {
    const { legacy } = clients();
    const { result } = await legacy('initialize', { protocolVersion: '2025-06-18', capabilities: {} }, '2025-06-18');
    expect(result).toMatchObject({ protocolVersion: '2025-06-18', capabilities: { tools: {}, logging: {} } });
    expect((await legacy('tasks/get', { taskId: 'x' }, '2025-06-18')).error?.code).toBe(-32601);
    expect((await legacy('tools/call', { name: 'plain', task: {} }, '2025-06-18')).result).toMatchObject({
      content: [{ text: 'hi' }],
    });
  });

  test('server/discover: extension, caching hints, identity in _meta (D-12 to D-16, E-01)', async () => {
    const { result } = await clients().modern('server/discover');
    expect(result).toEqual({
      supportedVersions: ['2026-07-28', '2025-11-25'],
      capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      ttlMs: expect.any(Number),
      cacheScope: 'public',
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'fake', version: '1' } },
    });
  });

  test('ping is exactly {} (B-12, F-13)', async () => {
    expect((await clients().legacy('ping')).result).toEqual({});
  });

  test.each(['tasks/update', 'server/discover', 'subscriptions/listen', 'resources/list', 'constructor'])(
    'a method 2025-11-25 does not have is -32601 with HTTP 200: %s (B-12)',
    async (method) => {
      const reply = await clients().legacy(method);
      expect([reply.status, reply.error?.code]).toEqual([200, -32601]);
    },
  );

  test('tools/list: execution in 2025-11-25 only, any output schema later (B-13, C-04, D-18)', async () => {
    const { legacy, modern } = clients();
    const tools = async (reply: Promise<{ result?: { tools: { name: string }[] } }>, name: string) =>
      (await reply).result?.tools.find((tool) => tool.name === name);
    expect(await tools(legacy('tools/list'), 'optional')).toEqual({
      name: 'optional',
      title: 'T',
      description: 'd',
      inputSchema: { type: 'object' },
      execution: { taskSupport: 'optional' },
    });
    expect(await tools(modern('tools/list'), 'optional')).toEqual({
      name: 'optional',
      title: 'T',
      description: 'd',
      inputSchema: { type: 'object' },
      outputSchema: { type: 'array' },
    });
    expect(await tools(legacy('tools/list'), 'plain')).not.toHaveProperty('execution');
    expect((await modern('tools/list', { cursor: 'mine' })).error?.code).toBe(-32602);
  });
});

describe('tools/call', () => {
  test.each([
    ['60,000 ms, as Inspector and Strands ask', { ttl: 60_000 }, 360_000],
    ['1 ms', { ttl: 1 }, 360_000],
    ['nothing', {}, 3_600_000],
    ['the maximum', { ttl: Number.MAX_SAFE_INTEGER }, 86_400_000],
  ])('a client asks for a ttl of %s: the record outlives its work (C-11, C-38)', async (_, task, granted) => {
    const { legacy, records } = clients();
    const { result } = await legacy('tools/call', { name: 'optional', task });
    expect(result).toMatchObject({ task: { ttl: granted } });
    const [record] = records.all();
    expect(record).toMatchObject({ ttl: granted, deadlineAt: 1_700_000_000_000 + 60_000 });
    expect(await legacy('tasks/get', { taskId: record?.taskId })).toMatchObject({ result: { ttl: granted } });
  });

  test('work takes no longer than maxTtl, and can be read for five minutes more', async () => {
    const { legacy, records } = clients(fakeServer({ manifest: { ...manifest, maxTtl: 20_000 } }));
    const { result } = await legacy('tools/call', { name: 'optional', task: {} });
    expect(result).toMatchObject({ task: { ttl: 320_000 } });
    expect(records.all()).toMatchObject([{ deadlineAt: 1_700_000_000_000 + 20_000 }]);
  });

  test('2026-07-28: flat, resultType task, no result; params.task ignored (E-06, E-08, E-23)', async () => {
    const { modern, did } = clients();
    const { result } = await modern('tools/call', { name: 'required', task: { ttl: 1 } });
    expect(result).toEqual({
      taskId: expect.any(String),
      status: 'working',
      createdAt: '2023-11-14T22:13:20.000Z',
      lastUpdatedAt: '2023-11-14T22:13:20.000Z',
      ttlMs: 3_600_000,
      pollIntervalMs: 3_000,
      resultType: 'task',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'fake', version: '1' } },
    });
    expect(did).toEqual(['create', 'start']);
  });

  test.each([
    ['certainly refused: gone for every reader', false, ['apply']],
    ['refused, and the table is out of reach, too: left to the sweep', true, ['apply']],
  ])('a start that is %s tells the client when to try again (row 2)', async (_title, ...given) => {
    const [down, done] = given;
    const fake = fakeServer();
    const { apply } = fake.server.store;
    fake.server.store.apply = async (...change) => {
      const changed = await apply(...change);
      if (down) throw new Error('throttled');
      return changed;
    };
    const start = () => Promise.reject(new TooManyStarts(true));
    const { modern, records } = clients({
      ...fake,
      server: { ...fake.server, workflow: { ...fake.server.workflow, start } },
    });
    const { error } = await modern('tools/call', { name: 'optional' });
    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('try again in 5 s') });
    expect(fake.did).toEqual(['create', ...done]);
    const [record] = records.all();
    expect(record && asOf(record, 1_700_000_000_000)?.status).toBeUndefined();
  });

  test.each([
    ['invites no client to repeat it', {}, {}, undefined],
    ['can be repeated with its tool', { readOnlyHint: true }, {}, 'Unavailable'],
    ['can be repeated by its key', {}, { 'mcp-task-server/idempotencyKey': 'k'.repeat(32) }, 'Unavailable'],
  ])('a start without an answer, then refused, %s (row 3)', async (_title, annotations, meta, reason) => {
    const fake = fakeServer();
    const start = () => Promise.reject(new TooManyStarts(false));
    const { entry, ...tool } = fake.server.tools.get('optional') as Tool;
    const tools = new Map([['optional', { ...tool, entry: { ...entry, annotations } }]]);
    const workflow = { ...fake.server.workflow, start };
    const { legacy, records } = clients({ ...fake, server: { ...fake.server, workflow, tools } });
    const { error } = await legacy('tools/call', { name: 'optional', task: {}, _meta: meta });
    expect([error.code, error.data?.reason]).toEqual([-32603, reason]);
    const keyed = Object.keys(meta).length > 0;
    expect(fake.did).toEqual(keyed ? ['get', 'create'] : ['create', 'apply', 'stop']);
    expect(records.all().map(({ status }) => status)).toEqual([keyed ? 'working' : 'failed']);
  });

  test('a direct call with a lost answer may have run: only a throttled one is retryable (A-15)', async () => {
    const error = async (fault: object, annotations = {}) => {
      const fake = fakeServer({ invoke: () => Promise.reject(Object.assign(new Error('x'), fault)) });
      const { entry, ...tool } = fake.server.tools.get('plain') as Tool;
      const tools = new Map([['plain', { ...tool, entry: { ...entry, annotations } }]]);
      return (await clients({ ...fake, server: { ...fake.server, tools } }).modern('tools/call', { name: 'plain' }))
        .error;
    };
    const again = { message: expect.stringContaining('try again') };
    expect(await error({ $metadata: { httpStatusCode: 429 } })).toMatchObject(again);
    for (const fault of [{ code: 'ECONNRESET' }, { $metadata: { httpStatusCode: 500 } }]) {
      expect(await error(fault)).toMatchObject({ code: -32603, message: expect.stringContaining('may have run') });
      expect(await error(fault)).not.toMatchObject(again);
      expect(await error(fault, { idempotentHint: true })).toMatchObject(again);
    }
  });

  test('an unexpected fault says nothing of itself (A-15)', async () => {
    const { modern } = clients(fakeServer({ invoke: () => Promise.reject(new Error('arn:aws:planted-secret')) }));
    expect((await modern('tools/call', { name: 'plain' })).error).toEqual({ code: -32603, message: 'Internal error' });
  });
});

describe('tasks', () => {
  test('a cancel whose write was repeated finds its own write, and has won (C-25)', async () => {
    const fake = fakeServer();
    const { legacy } = clients(fake);
    const { result } = await legacy('tools/call', { name: 'optional', task: {} });
    const { apply } = fake.server.store;
    fake.server.store.apply = async (key, change) => {
      await apply(key, change);
      return apply(key, change);
    };
    const { taskId } = (result as unknown as { task: { taskId: string } }).task;
    expect((await legacy('tasks/cancel', { taskId })).result).toMatchObject({ taskId, status: 'cancelled' });
    expect((await legacy('tasks/cancel', { taskId })).error?.message).toContain('already cancelled');
  });

  test('unknown ids get one answer from every method (C-28, E-15)', async () => {
    const { legacy, modern } = clients();
    for (const taskId of ['0'.repeat(36), 'x', 5, undefined]) {
      for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
        expect((await legacy(method, { taskId })).error).toEqual({ code: -32602, message: 'Task not found' });
      }
    }
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect((await modern(method, { taskId: '0'.repeat(36), inputResponses: {} })).error).toEqual({
        code: -32602,
        message: 'Task not found',
      });
    }
  });
});
