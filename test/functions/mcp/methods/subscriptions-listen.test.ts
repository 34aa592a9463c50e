import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ModernCall } from '../../../../functions/mcp/context.ts';
import { subscriptionsListen } from '../../../../functions/mcp/methods/subscriptions-listen.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { asked, hundredth, idOf, setup, T0, task } from '../support/listener.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());
const logged = () => vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(line));

const rounds = (messages: { params?: { inputRequests?: object } }[]) =>
  messages.flatMap(({ params }) => Object.keys(params?.inputRequests ?? {}));

describe('a listener (E-24 to E-27)', () => {
  test('learns that a task works again when it sleeps after its answer', async () => {
    const waits = JSON.stringify({ a: { kind: 'time', until: T0 + 86_400_000 } });
    const { change, messages } = await setup({
      1000: () => change(1, { status: 'input_required', asked, waits }),
      3000: () => change(1, { status: 'waiting', inputResponses: { 'r1.sure': '{}' } }),
    });
    const statuses = (await messages(1)).flatMap(({ params }) => params?.status ?? []);
    expect(statuses).toEqual(['working', 'input_required', 'working']);
  });

  test('that is not valid gets the reason', async () => {
    const { listen, server } = await setup();
    const message = `notifications.taskIds is an array of ${limits.listenTasks} ids at most`;
    for (const ids of ['x', Array.from({ length: limits.listenTasks + 1 }, () => idOf(1))]) {
      await expect(listen(ids)).rejects.toMatchObject({ code: -32602, message });
    }
    const none = { params: {}, tasks: true } as unknown as ModernCall;
    await expect(subscriptionsListen(none, server)).rejects.toThrow('notifications must be an object');
  });

  test('of ids that no server makes, or of no tasks, reads nothing', async () => {
    const { frames, listen, getMany, server } = await setup();
    await frames();
    for await (const _frame of (await listen(['x', 5])).frames);
    for await (const _frame of (await listen()).frames);
    expect(getMany).not.toHaveBeenCalled();
    expect(server.now()).toBeGreaterThan(T0);
  });

  test('of an unknown task next to a known one leaves a line in the audit log, for that one only', async () => {
    const { frames, audited } = await setup();
    await frames(1, 3);
    const denied = audited.map((line) => JSON.parse(line)).filter(({ action }) => action === 'denied');
    expect(denied.map(({ taskId }) => taskId)).toEqual([idOf(3)]);
  });

  test('of tasks that do not exist ends at once, with one line of log that counts them (E-25)', async () => {
    const { messages, audited, elapsed, records } = await setup();
    const [acknowledged, ended, ...more] = await messages(3, 4, 5);
    expect(acknowledged.params.notifications).toEqual({ taskIds: [] });
    expect([ended.result.resultType, more, elapsed()]).toEqual(['complete', [], 0]);
    const denied = audited.map((line) => JSON.parse(line)).filter(({ action }) => action === 'denied');
    expect(denied).toMatchObject([{ taskId: idOf(3), tasks: 3, reason: 'not_found' }]);
    expect(records.ids()).toHaveLength(2);
  });

  test('sends 20 MB of tasks at most, then ends: tasks/get has the rest (E-24)', async () => {
    const { frames, change } = await setup();
    hundredth();
    const half = JSON.stringify('x'.repeat(limits.listenBytes * 0.6));
    for (const n of [1, 2]) change(n, { status: 'completed', result: half, updatedAt: T0 + n });
    const all = await frames(1, 2);
    const bytes = all.reduce((sum, frame) => sum + frame.length, 0);
    expect(bytes).toBeLessThan(limits.listenBytes);
    expect(all.filter((frame) => frame.includes('"completed"'))).toHaveLength(1);
    expect(all.at(-1)).toContain('"resultType":"complete"');
  });

  test('hears of one task whatever its size', async () => {
    const { frames, change } = await setup();
    hundredth();
    change(1, { status: 'completed', result: JSON.stringify('x'.repeat(limits.listenBytes)), updatedAt: T0 + 1 });
    expect((await frames(1)).filter((frame) => frame.includes('"completed"'))).toHaveLength(1);
  });

  test('that comes back all the time gets 429 before any read, and is served again later (C-37)', async () => {
    const { listen, getMany, server } = await setup();
    for (let i = 0; i < 1 + limits.lists.most; i++) await listen([idOf(3)]);
    const reads = getMany.mock.calls.length;
    await expect(listen([idOf(3)])).rejects.toMatchObject({ httpStatus: 429, retryAfter: 5 });
    expect(getMany.mock.calls.length).toBe(reads);
    await server.sleep(2 * limits.lists.window);
    await listen([idOf(3)]);
  });

  test('ends when its time is over, not a moment later', async () => {
    const { frames, elapsed } = await setup();
    await frames(1);
    expect(elapsed()).toBe(5_500);
  });

  test('hears of a question of the next round, however fast it comes', async () => {
    const here = await setup({
      1000: () => here.change(1, { status: 'input_required', asked, updatedAt: T0 + 1 }),
      2000: () => here.change(1, { round: 2 }),
    });
    expect(rounds(await here.messages(1))).toEqual(['r1.sure', 'r2.sure']);
  });

  test('of many tasks reads them less often, and each of them in the end (E-24)', async () => {
    const here = await setup({}, 30_000);
    const ids = Array.from({ length: 40 }, (_, n) => 11 + n);
    for (const n of ids) await here.server.store.create(create({ owner: 'ann', taskId: idOf(n) }, task, T0));
    const readMany = vi.spyOn(here.server.store, 'readMany');
    const sent = await here.messages(...ids);
    // 40 units each 5 s.
    expect(readMany.mock.calls.map(([keys]) => keys.length)).toEqual([40, 40, 40, 40, 40, 40]);
    expect(sent.length).toBe(42);
  });

  test('reads no more units at first than its bound, whatever the tasks report', async () => {
    const here = await setup({}, 1_000);
    const ids = Array.from({ length: limits.listenTasks }, (_, n) => 101 + n);
    for (const n of ids) await here.server.store.create(create({ owner: 'ann', taskId: idOf(n) }, task, T0));
    const withReports = vi.spyOn(here.server.store, 'withReports');
    await here.messages(...ids);
    expect(withReports.mock.calls.map(([records]) => records.length)).toEqual([16]);
  });

  test('a deadline decides only after a read that misses nothing', async () => {
    const deadline = task.timeout + limits.deadlineGrace + 1;
    const here = await setup({ 1000: () => here.pass(deadline) }, deadline + 5_500);
    const late = here.records.get(idOf(1)) as TaskRecord;
    here.server.store.readMany = async () => [late];
    here.change(1, { status: 'completed', result: '1', updatedAt: T0 + 1 });
    const sent = await here.messages(1);
    expect(sent.map(({ params }) => params?.status).filter(Boolean)).toEqual(['completed']);
  });

  test('a read that is late tells nothing that is over (E-24)', async () => {
    const here = await setup({ 1000: () => here.change(1, { status: 'input_required', asked, updatedAt: T0 + 1 }) });
    const first = here.records.get(idOf(1)) as TaskRecord;
    const { getMany } = here.server.store;
    let looks = 0;
    here.server.store.readMany = async (keys) => (++looks === 2 ? [first] : getMany.call(here.server.store, keys));
    const sent = await here.messages(1);
    expect(sent.flatMap(({ params }) => params?.status ?? [])).toEqual(['working', 'input_required']);
  });

  test('hears no more of a task that expires', async () => {
    const here = await setup({ 1000: () => here.change(1, { ttl: 1, updatedAt: T0 + 1 }) });
    const all = await here.messages(1);
    expect(all.map(({ params }) => params?.status)).toEqual([undefined, 'working', undefined]);
    expect(all.at(-1)).toMatchObject({ id: 7, result: { resultType: 'complete' } });
  });

  test('stays through an outage, which is logged', async () => {
    const here = await setup({
      1000: () => vi.spyOn(here.server.store, 'readMany').mockRejectedValueOnce(new Error('no')),
      3000: () => here.change(1, { status: 'completed', result: '1', updatedAt: T0 + 1 }),
    });
    const all = await here.messages(1);
    expect(all.map(({ params }) => params?.status)).toEqual([undefined, 'working', 'completed', undefined]);
    expect(logged()).toMatchObject([{ event: 'unexpected_error', where: 'subscriptions/listen' }]);
  });
});
