import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { ALL_KINDS } from '../support/fake-server.ts';
import { legacyServer, sure, YES } from '../support/legacy-server.ts';

const cancelled = (requestId?: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { ...(requestId !== undefined && { requestId }), reason: 'Bored' },
});
const plain = { name: 'optional' };
const SECOND = 1_000;
const result = { status: 'completed', result: '{"n":1}' } as const;

describe('notifications/cancelled', () => {
  test('stops the work of a plain call that waits, and no answer is sent (B-15)', async () => {
    const here = legacyServer();
    const client = await here.session();
    const replies: unknown[] = [];
    here.at(2 * SECOND, async () => replies.push(await client.post(cancelled('q1'))));
    const { messages } = await client.request('tools/call', plain);
    expect(messages).toEqual([]);
    expect(replies).toMatchObject([{ status: 202, raw: '' }]);
    expect(here.records.all()).toMatchObject([{ status: 'cancelled' }]);
    expect(here.elapsed()).toBeLessThan(4 * SECOND);
  });

  test.each([
    ['', plain],
    [' under a key', { ...plain, _meta: { 'mcp-task-server/idempotencyKey': 'mine' } }],
  ])('stops a plain call%s, however many older tasks have keys (B-15)', async (_title, params) => {
    const here = legacyServer();
    const client = await here.session();
    const keyed = (key: string) => ({ name: 'optional', task: {}, _meta: { 'mcp-task-server/idempotencyKey': key } });
    for (let i = 0; i < 60; i++) await client.request('tools/call', keyed(String(i)));
    here.wait(60 * SECOND);
    here.at(here.elapsed() + 2 * SECOND, () => client.post(cancelled('q61')));
    expect((await client.request('tools/call', params)).messages).toEqual([]);
    const ended = here.records.all().filter(({ status }) => status === 'cancelled');
    expect(ended).toMatchObject([{ tool: 'optional' }]);
  });

  test.each([1, -1])('of two calls with one id it stops the one that waits, in order %i (B-15)', async (order) => {
    const here = legacyServer();
    const { getMany } = here.server.store;
    // DynamoDB gives the records of a batch in any order.
    vi.spyOn(here.server.store, 'getMany').mockImplementation(async (keys) =>
      (await getMany(keys)).toSorted((a, b) => order * (a.createdAt - b.createdAt)),
    );
    const client = await here.session();
    const call = () => client.post({ jsonrpc: '2.0', id: 'same', method: 'tools/call', params: plain });
    here.at(1 * SECOND, () => here.change(here.records.ids()[0] ?? '', result));
    await call();
    // Ids begin with whole milliseconds.
    here.clock.now = Math.ceil(here.clock.now);
    here.at(4 * SECOND, () => client.post(cancelled('same')));
    expect((await call()).messages).toEqual([]);
    expect(
      here.records
        .all()
        .map(({ status }) => status)
        .toSorted(),
    ).toEqual(['cancelled', 'completed']);
  });

  test('stops the newest of several calls with one id that wait, and no other (B-15)', async () => {
    const here = legacyServer(sure);
    const client = await here.session();
    const call = () => client.post({ jsonrpc: '2.0', id: 'same', method: 'tools/call', params: plain });
    for (let calls = 0; calls < 3; calls++) {
      await call();
      here.wait(60 * SECOND);
    }
    await client.post(cancelled('same'));
    const byTime = here.records.all().toSorted((a, b) => a.createdAt - b.createdAt);
    expect(byTime.map(({ status }) => status)).toEqual(['input_required', 'input_required', 'cancelled']);
  });

  test('of two plain calls under one key only the cancelled one gets no answer (B-15)', async () => {
    const here = legacyServer();
    const client = await here.session();
    const calls = ['q1', 'q2'].map(() =>
      client.request('tools/call', { ...plain, _meta: { 'mcp-task-server/idempotencyKey': 'order' } }),
    );
    here.at(2 * SECOND, () => client.post(cancelled('q1')));
    const [first, second] = await Promise.all(calls);
    expect(first?.messages).toEqual([]);
    expect(second?.answer).toMatchObject({ id: 'q2', error: { message: 'Task was cancelled' } });
  });

  test('stops one that waits for the clock (B-15)', async () => {
    const here = legacyServer();
    const client = await here.session();
    const waits = JSON.stringify({ a: { kind: 'time', until: 9e12 } });
    here.at(1 * SECOND, () => here.change(here.records.ids()[0] ?? '', { status: 'waiting', waits, asked: '{}' }));
    here.at(2 * SECOND, () => client.post(cancelled('q1')));
    expect((await client.request('tools/call', plain)).messages).toEqual([]);
    expect(here.records.all()).toMatchObject([{ status: 'cancelled' }]);
  });

  test('stops one that waits for a person, and its later streams have no answer (B-15)', async () => {
    const here = legacyServer(sure);
    const client = await here.session();
    const asking = await client.request('tools/call', plain);
    expect([asking.messages.length, here.elapsed() >= 40 * SECOND]).toEqual([1, true]);
    await client.post(cancelled('q1'));
    expect(here.records.all()).toMatchObject([{ status: 'cancelled' }]);
    const { status, messages } = await client.resume(asking.lastId);
    expect([status, messages]).toEqual([200, []]);
  });

  describe('of a record that has no room for another event', () => {
    const events = [
      { at: 0, what: 'created' } as const,
      ...Array.from({ length: limits.events.others - 1 }, (_, n) => ({ at: n, what: 'asked' }) as const),
    ];
    const asks = {
      status: 'input_required',
      asked: JSON.stringify({ inputRequests: sure }),
      accepts: ALL_KINDS,
    } as const;

    test('stops the call after an answer that took longer than its window (B-15)', async () => {
      const here = legacyServer();
      const client = await here.session();
      here.at(1 * SECOND, () =>
        here.change(here.records.ids()[0] ?? '', { ...asks, round: 10, events, arguments: '{}' }),
      );
      const { messages } = await client.request('tools/call', plain, ({ id, method }) => {
        if (method === undefined) return;
        here.at(here.elapsed() + 30 * SECOND, () => client.respond(id, YES));
        here.at(here.elapsed() + 32 * SECOND, () => client.post(cancelled('q1')));
      });
      expect(messages).toMatchObject([{ method: 'elicitation/create' }]);
      expect(here.records.all()).toMatchObject([{ status: 'cancelled', round: 11 }]);
    });

    test('ignores a round that began after a wait: the call has its answer (B-15)', async () => {
      const here = legacyServer();
      const client = await here.session();
      await client.request('tools/call', plain);
      const resumed = { round: 11, reportsFrom: 10, updatedAt: here.now(), events };
      here.change(here.records.ids()[0] ?? '', resumed);
      await client.post(cancelled('q1'));
      expect(here.records.all()).toMatchObject([{ status: 'working' }]);
    });

    test('ignores a signal to the first round: the call has its answer (B-15)', async () => {
      const here = legacyServer();
      const client = await here.session();
      await client.request('tools/call', plain);
      here.change(here.records.ids()[0] ?? '', { updatedAt: here.now(), events });
      await client.post(cancelled('q1'));
      expect(here.records.all()).toMatchObject([{ status: 'working' }]);
    });
  });

  test('cancels no task: not one that a call has created, nor the wait for its result (B-15)', async () => {
    const here = legacyServer();
    const client = await here.session();
    const taskId = await client.create();
    here.at(2 * SECOND, () => client.post(cancelled('q1')));
    here.at(3 * SECOND, () => client.post(cancelled('q2')));
    here.at(9 * SECOND, () => here.change(taskId, result));
    const { answer } = await client.request('tasks/result', { taskId });
    expect(answer).toMatchObject({ id: 'q2', result: { structuredContent: { n: 1 } } });
  });

  test.each([['another id', 'q2'], ['an id of another type', 1], ['no id'], ['an odd id', { a: 1 }]])(
    'of a request that is unknown is ignored: %s (B-15)',
    async (_what, requestId?: unknown) => {
      const here = legacyServer();
      const client = await here.session();
      here.at(2 * SECOND, async () => expect((await client.post(cancelled(requestId))).status).toBe(202));
      here.at(5 * SECOND, () => here.change(here.records.ids()[0] ?? '', result));
      expect((await client.request('tools/call', plain)).answer).toMatchObject({ result: {} });
    },
  );

  test('of another session is ignored, though that one has a request of the same id (B-15)', async () => {
    const here = legacyServer();
    const [client, other] = [await here.session(), await here.session()];
    here.at(2 * SECOND, () => other.post(cancelled('q1')));
    here.at(5 * SECOND, () => here.change(here.records.ids()[0] ?? '', result));
    expect((await client.request('tools/call', plain)).answer).toMatchObject({ result: {} });
  });

  test('of a call that has its answer is ignored: its task, which that names, goes on (B-15, F-14)', async () => {
    const here = legacyServer();
    const client = await here.session();
    const { answer } = await client.request('tools/call', plain);
    expect(answer.result.content[0].text).toContain('still running as task');
    expect((await client.post(cancelled('q1'))).status).toBe(202);
    expect(here.records.all()).toMatchObject([{ status: 'working' }]);
  });
});
