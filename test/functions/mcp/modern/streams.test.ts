import { describe, expect, test } from 'vitest';
import type { ServerContext, Tool } from '../../../../functions/mcp/context.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { type ModernOptions, modernMessage, TASKS } from '../../../support/clients.ts';
import { clockedServer, manifest } from '../support/fake-server.ts';
import { exchanged } from '../support/posted.ts';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
type Change = Partial<TaskRecord>;

/** A server whose clock runs while it sleeps. `later`: what happens, by ms from the start. */
function clocked(later: Record<number, () => void> = {}, over: Partial<ServerContext> = {}) {
  const fake = clockedServer(over);
  for (const [ms, happen] of Object.entries(later)) fake.at(Number(ms), happen);
  return fake;
}

/** Sends a request, and reads all that comes for it. */
async function send(
  { server }: Pick<ReturnType<typeof clocked>, 'server'>,
  method: string,
  params: Record<string, unknown>,
  { id, ...options }: ModernOptions & { id?: string | number } = {},
) {
  const { body, headers } = modernMessage(method, params, options);
  const _meta = { ...body.params._meta, ...(params._meta as object | undefined) };
  const sent = { ...body, ...(id !== undefined && { id }), params: { ...body.params, _meta } };
  const reply = await exchanged(server, sent, headers);
  return { ...reply, type: reply.headers['content-type'], id: sent.id };
}

async function newTask(fake: Pick<ReturnType<typeof clocked>, 'server'>): Promise<string> {
  return (await send(fake, 'tools/call', { name: 'required' })).last.result.taskId;
}

const listen = (fake: Pick<ReturnType<typeof clocked>, 'server'>, notifications: unknown, options: object = {}) =>
  send(fake, 'subscriptions/listen', { notifications }, options);

describe('subscriptions/listen', () => {
  test.each<string | number>(['a string', '', 7, 0, -3])(
    'acknowledges first, tags every message, ends with a result: %o (D-29, D-30, D-31)',
    async (id) => {
      const fake = clocked();
      const taskId = await newTask(fake);
      const { messages, type } = await listen(fake, { taskIds: [taskId] }, { id });
      expect(type).toBe('text/event-stream');
      expect(messages.map(({ method }) => method)).toEqual([
        'notifications/subscriptions/acknowledged',
        'notifications/tasks',
        undefined,
      ]);
      expect(messages[0].params.notifications).toEqual({ taskIds: [taskId] });
      for (const { params, result } of messages) expect((params ?? result)._meta[SUBSCRIPTION]).toBe(id);
      expect(messages[2]).toMatchObject({ id, result: { resultType: 'complete' } });
    },
  );

  test('is held until its cap, and kept alive meanwhile (D-31)', async () => {
    const fake = clocked();
    const taskId = await newTask(fake);
    const { raw } = await listen(fake, { taskIds: [taskId] });
    expect(fake.elapsed()).toBe(manifest.holdCap);
    // Behind the first frames, and after each 15 s.
    expect(raw.match(/^: .+$/gm)).toHaveLength(4);
  });

  test('without taskIds it is acknowledged, and quiet, for any capabilities (D-29 to D-31)', async () => {
    for (const capabilities of [{}, TASKS]) {
      const fake = clocked();
      const { messages } = await listen(fake, {}, { capabilities });
      expect(messages.map(({ params }) => params?.notifications)).toEqual([{}, undefined]);
      expect(fake.elapsed()).toBe(manifest.holdCap);
    }
  });

  test('what is not offered is not acknowledged (D-30)', async () => {
    const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['file:///x'] };
    const { messages } = await listen(clocked(), filter);
    expect(messages[0].params.notifications).toEqual({});
  });

  test('leaves out ids that are unknown, gone, malformed or said twice (E-25)', async () => {
    const fake = clocked();
    const [taskId, gone] = [await newTask(fake), await newTask(fake)];
    fake.change(gone, { ttl: 0 });
    const unknown = '0'.repeat(36);
    const taskIds = [unknown, taskId, 'x', gone, `${'0'.repeat(26)}_${unknown}`, taskId, '__proto__', 5, null, {}];
    const { messages } = await listen(fake, { taskIds });
    expect(messages[0].params.notifications).toEqual({ taskIds: [taskId] });
    expect(messages.filter(({ method }) => method === 'notifications/tasks')).toHaveLength(1);
  });

  test('sends each change once, the same as tasks/get, and ends with the last one (E-24)', async () => {
    const asked = JSON.stringify({ inputRequests: { sure: { method: 'roots/list' } } });
    const fake = clocked({
      500: () => fake.change(a, { statusMessage: 'step 1' }),
      3000: () => fake.change(b, { status: 'input_required', asked, accepts: ['roots/list'] }),
      6000: () => fake.change(a, { status: 'completed', result: '{"n":1}' }),
      9000: () => fake.change(b, { status: 'failed', error: '{"code":-32603,"message":"x"}', statusMessage: 'x' }),
    });
    const [a, b] = [await newTask(fake), await newTask(fake)];
    const { messages } = await listen(fake, { taskIds: [a, b] });
    const told = messages.filter(({ method }) => method === 'notifications/tasks').map(({ params }) => params);
    expect(told.map(({ taskId, status }) => [taskId === a ? 'a' : 'b', status])).toEqual([
      ['a', 'working'],
      ['b', 'working'],
      ['a', 'working'],
      ['b', 'input_required'],
      ['a', 'completed'],
      ['b', 'failed'],
    ]);
    for (const last of told.slice(-2)) {
      const { result } = (await send(fake, 'tasks/get', { taskId: last.taskId })).last;
      const { _meta: _, pollIntervalMs: _p, resultType: _r, ...got } = result;
      const { _meta: __, pollIntervalMs: _q, ...said } = last;
      expect(said).toEqual(got);
    }
    expect(fake.elapsed()).toBeLessThan(11_000);
  });

  test('of tasks that are over it tells at once, and ends (E-24)', async () => {
    const fake = clocked();
    const taskId = await newTask(fake);
    fake.change(taskId, { status: 'cancelled' });
    const { messages } = await listen(fake, { taskIds: [taskId] });
    expect(messages.map(({ params }) => params?.status)).toEqual([undefined, 'cancelled', undefined]);
    expect(fake.elapsed()).toBe(50);
  });

  test('judges each result once, as a slow outputSchema makes each dear (A-19, E-24)', async () => {
    const fake = clocked();
    let judged = 0;
    const required = fake.server.tools.get('required') as Tool;
    const validateOutput = () => {
      judged++;
      return false;
    };
    const server = { ...fake.server, tools: new Map([['required', { ...required, validateOutput }]]) };
    const taskIds = await Promise.all(Array.from({ length: 3 }, () => newTask(fake)));
    for (const taskId of taskIds) fake.change(taskId, { status: 'completed', result: '{"n":1}' });
    const { messages } = await listen({ server }, { taskIds });
    expect(messages).toHaveLength(5);
    expect(judged).toBe(3);
  });

  test('as many ids as allowed are served', async () => {
    const taskIds = Array.from({ length: limits.listenTasks }, (_, i) => String(i));
    expect((await listen(clocked(), { taskIds })).messages[0].params.notifications).toEqual({ taskIds: [] });
  });

  test.each<object>([{}, { tasks: {} }, { extensions: {} }])(
    'tasks are not listened to without the extension, and it says so in plain JSON: %o (E-26)',
    async (capabilities) => {
      for (const taskIds of [[], ['x'], 'x']) {
        const headers = { accept: 'application/json, text/event-stream' };
        const { status, type, last } = await listen(clocked(), { taskIds }, { capabilities, headers });
        expect([status, type]).toEqual([400, 'application/json']);
        const message = 'taskIds are for clients that know tasks: declare the extension io.modelcontextprotocol/tasks';
        expect(last.error).toEqual({ code: -32021, message, data: { requiredCapabilities: TASKS } });
      }
    },
  );

  test('an outage ends it, but nothing comes before the acknowledgement (A-15, D-29)', async () => {
    const fake = clocked();
    const taskId = await newTask(fake);
    fake.server.store.getMany = () => Promise.reject(new Error('arn:aws:planted-secret'));
    const { last, raw } = await listen(fake, { taskIds: [taskId] });
    expect(last.error).toEqual({ code: -32603, message: 'Internal error' });
    expect(raw).not.toContain('secret');
  });

  test('an outage later on ends it as its cap does (A-15, D-31)', async () => {
    const fake = clocked({ 2000: () => fake.did.push('down') });
    const taskId = await newTask(fake);
    const { getMany } = fake.server.store;
    fake.server.store.getMany = async (keys) => {
      if (fake.did.includes('down')) throw new Error('arn:aws:planted-secret');
      return getMany(keys);
    };
    const { messages, last } = await listen(fake, { taskIds: [taskId] });
    expect(messages).toHaveLength(3);
    expect(last.result).toMatchObject({ resultType: 'complete' });
  });
});

describe('the stream of a call', () => {
  const call = (fake: ReturnType<typeof clocked>, token: unknown, capabilities: object = {}) =>
    send(fake, 'tools/call', { name: 'optional', _meta: { progressToken: token } }, { capabilities });
  const steps = (fake: () => ReturnType<typeof clocked>, values: Record<number, Change>) =>
    Object.fromEntries(
      Object.entries(values).map(([at, change]) => [
        at,
        () => {
          for (const taskId of fake().records.ids()) fake().change(taskId, change);
        },
      ]),
    );

  test.each<string | number>(['token', 0, 42])(
    'progress precedes the answer, has the token of the request, only grows: %o (A-22, D-26)',
    async (token) => {
      const fake: ReturnType<typeof clocked> = clocked(
        steps(() => fake, {
          1000: { statusMessage: 'one', progress: 1, progressTotal: 3 },
          3000: { statusMessage: 'back', progress: 0.5 },
          5000: { statusMessage: 'two', progress: 2 },
          7000: { status: 'completed', result: '"x"' },
        }),
      );
      const { messages, id } = await call(fake, token);
      const told = messages.slice(0, -1).map(({ params }) => params);
      expect(told.map(({ progressToken, message }) => [progressToken, message])).toEqual([
        [token, 'one'],
        [token, 'two'],
      ]);
      expect(messages.at(-1)).toMatchObject({ id, result: { resultType: 'complete', content: [{ text: 'x' }] } });
      expect(messages.every((message) => !('method' in message && 'id' in message))).toBe(true);
    },
  );

  test.each<unknown>([undefined, null, 1.5, {}, ['x'], true])(
    'without a token no progress and no stream: %o (A-22, D-26)',
    async (token) => {
      const fake: ReturnType<typeof clocked> = clocked(
        steps(() => fake, { 500: { statusMessage: 'one' }, 1500: { status: 'completed', result: '"x"' } }),
      );
      const { messages, type } = await call(fake, token);
      expect([type, messages.length]).toEqual(['application/json', 1]);
    },
  );

  test('ends with what the tool asks, or with the error that it may not ask it (A-07, D-19, D-22)', async () => {
    const asked = JSON.stringify({ inputRequests: { who: { method: 'roots/list' } } });
    const asking: ReturnType<typeof clocked> = clocked(
      steps(() => asking, { 2000: { status: 'input_required', asked } }),
    );
    expect((await call(asking, 1, { roots: {} })).messages).toMatchObject([
      { result: { resultType: 'input_required', requestState: expect.any(String) } },
    ]);
    const error = JSON.stringify({ code: -32603, message: 'x', data: { kinds: ['sampling/createMessage'] } });
    const refused: ReturnType<typeof clocked> = clocked(steps(() => refused, { 2000: { status: 'failed', error } }));
    expect((await call(refused, 1)).last.error).toMatchObject({
      code: -32021,
      message: expect.stringContaining('asks for input: declare the capability sampling'),
      data: { requiredCapabilities: { sampling: {} } },
    });
  });

  test('ends with a response, also if the hold is shorter than the inline window (A-07, F-14)', async () => {
    const fake = clocked({}, { manifest: { ...manifest, inlineWindow: 60_000, holdCap: 5_000 } });
    const { last, id } = await call(fake, 'token');
    expect(last).toMatchObject({ id, result: { isError: true } });
  });
});
