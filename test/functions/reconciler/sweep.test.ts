import { describe, expect, test, vi } from 'vitest';
import { type SweepContext, sweep } from '../../../functions/reconciler/sweep.ts';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { shardOf } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { dueIndex } from '../../../functions/tasks/table/due-index.ts';
import { MACHINES } from '../../support/engine/executions.ts';
import { executionArn, TABLE } from '../../support/engine/memory.ts';
import { END, fakeContext, MINUTE, record, T0 } from './fake-context.ts';

const named = (taskId: string, over: Partial<TaskRecord> = {}) =>
  record({ taskId, due: String(shardOf(taskId, 16)), ...over });
const many = (count: number, over: Partial<TaskRecord> = {}) =>
  Array.from({ length: count }, (_, i) => named(`t${i}`, over));
const failed = ({ records }: ReturnType<typeof fakeContext>) =>
  records.all().filter(({ status }) => status === 'failed').length;

/** With an index whose pages have this size. */
const paged = ({ context, dynamoDb }: ReturnType<typeof fakeContext>, size: number): SweepContext => ({
  ...context,
  index: dueIndex(dynamoDb, TABLE, size),
});

describe('a sweep', () => {
  test('with nothing due reads each shard once, and says so', async () => {
    const { context, did } = fakeContext([named('young', { dueAt: T0 + 2 * MINUTE })]);
    const report = await sweep(context.now() + 50_000, context);
    expect(report).toEqual({ complete: true, due: 0, left: 0, repaired: {}, errors: {} });
    expect(did).toEqual([]);
  });

  test('puts right everything that is due, in all shards', async () => {
    const fake = fakeContext(many(100));
    fake.clock.now = END + 1;
    const report = await sweep(fake.clock.now + 50_000, fake.context);
    // No run is known of: the next sweep stops what has begun meanwhile.
    fake.clock.now += MINUTE;
    await sweep(fake.clock.now + 50_000, fake.context);
    expect(new Set(fake.records.all().map(({ due }) => due))).toEqual(new Set([undefined]));
    expect(report).toMatchObject({ complete: true, due: 100, left: 0, repaired: { overdue: 100 }, errors: {} });
    expect(fake.did.filter((name) => name === 'describe')).toEqual([]);
  });

  test('reads on where a shard has more than a page', async () => {
    const tasks = Array.from({ length: 30 }, (_, i) => named(`t${String(i).padStart(2, '0')}`, { due: '3' }));
    const fake = fakeContext(tasks);
    // Confirmed tasks stay in their records, so that the pages of this fake do not shift.
    for (const { taskId } of tasks) fake.executions.put(executionArn(taskId, 1), { status: 'RUNNING' });
    const report = await sweep(fake.clock.now + 50_000, paged(fake, 7));
    expect(report).toEqual({ complete: true, due: 30, left: 0, repaired: {}, errors: {} });
    expect(fake.records.all().every(({ seenRound }) => seenRound === 1)).toBe(true);
  });

  test('of a server with one huge shard does not let the others wait', async () => {
    const huge = Array.from({ length: 200 }, (_, i) => named(`a${String(i).padStart(3, '0')}`, { due: '0' }));
    const other = named('b', { due: '15', deadlineAt: T0 });
    const fake = fakeContext([...huge, other]);
    const order: string[] = [];
    const context = paged(fake, 10);
    const { get } = context.store;
    const store: SweepContext['store'] = {
      ...context.store,
      get(key) {
        order.push(key.taskId);
        return get(key);
      },
    };
    await sweep(fake.clock.now + 50_000, { ...context, store });
    expect(order.indexOf('b')).toBeLessThan(20);
  });

  test('checks the longest due of every shard first: no shard uses up all checks', async () => {
    const busy = Array.from({ length: 40 }, (_, i) => named(`a${String(i).padStart(2, '0')}`, { due: '0' }));
    const fake = fakeContext([...busy, named('b', { due: '15' })]);
    const described: string[] = [];
    const describe = async (arn: string) => {
      described.push(arn);
      return { status: 'RUNNING' as const };
    };
    // Time for six calls.
    const report = await sweep(fake.clock.now + 1_000, { ...fake.context, describe });
    expect(described).toContain(executionArn('b', 1));
    expect(report.left).toBe(41 - described.length);
  });

  test('reaches every task in the end, though the checks of some always fail', async () => {
    const broken = Array.from({ length: 12 }, (_, i) => named(`a${String(i).padStart(2, '0')}`, { due: '0' }));
    const fake = fakeContext([...broken, named('b', { due: '0', dueAt: T0 + MINUTE })]);
    fake.clock.now += MINUTE;
    const describe = async (arn: string) => {
      if (/:a\d\d/.test(arn)) throw Object.assign(new Error(), { name: 'KmsAccessDeniedException' });
      return { status: 'RUNNING' as const };
    };
    for (let sweeps = 0; sweeps < 3; sweeps++) {
      await sweep(fake.clock.now + 1_000, { ...fake.context, describe });
      fake.clock.now += MINUTE;
    }
    expect(fake.records.get('b')?.seenRound).toBe(1);
  });

  test('continues after an unreadable task, an unwritable task and an unreadable shard', async () => {
    const fake = fakeContext(many(40));
    fake.clock.now = END + 1;
    const { get, applyBlind } = fake.context.store;
    const oops = (name: string) => {
      throw Object.assign(new Error('arn:aws:dynamodb:table/secret'), { name });
    };
    const context: SweepContext = {
      ...fake.context,
      store: {
        ...fake.context.store,
        get: async (key) => (key.taskId === 't1' ? oops('InternalServerError') : get(key)),
        applyBlind: async (key, change) => (key.taskId === 't2' ? oops('TimeoutError') : applyBlind(key, change)),
      },
      index: {
        page: async (shard, until) =>
          shard === shardOf('t3', 16) ? oops('ThrottlingException') : fake.context.index.page(shard, until),
      },
    };
    const report = await sweep(fake.clock.now + 50_000, context);
    const lost = fake.records.all().filter(({ due }) => due === String(shardOf('t3', 16))).length;
    expect(report.errors).toMatchObject({ ThrottlingException: 1 });
    expect(report.complete).toBe(false);
    expect(failed(fake)).toBe(40 - lost - (report.errors.InternalServerError ?? 0) - (report.errors.TimeoutError ?? 0));
    expect(failed(fake)).toBeGreaterThan(30);
  });
});

describe('the bounds of a sweep', () => {
  test('it checks six runs a second at most, and leaves the rest to the next sweep', async () => {
    const fake = fakeContext(many(100));
    const described: number[] = [];
    const { describe } = fake.context;
    fake.context = {
      ...fake.context,
      describe(arn) {
        described.push(fake.clock.now);
        return describe(arn);
      },
    };
    const started = fake.clock.now;
    const report = await sweep(started + 5_000, fake.context);
    expect(described).toHaveLength(30);
    expect(described.at(-1)).toBeLessThan(started + 5_000);
    expect(report).toMatchObject({ due: 30, left: 70, repaired: { never_started: 30 } });
    await sweep(fake.clock.now + 15_000, fake.context);
    expect(failed(fake)).toBe(100);
  });

  test('it checks as many a second as are set, though each takes a while', async () => {
    const fake = fakeContext(many(400));
    const started = fake.clock.now;
    const checks: number[] = [];
    // Time passes once all that is under way waits for it.
    const waiting: { readonly at: number; readonly wake: () => void }[] = [];
    const sleep = (ms: number) =>
      new Promise<void>((wake) => {
        waiting.push({ at: fake.clock.now + ms, wake });
        setImmediate(() => {
          waiting.sort((a, b) => a.at - b.at);
          const next = waiting.shift();
          if (next === undefined) return;
          fake.clock.now = Math.max(fake.clock.now, next.at);
          next.wake();
        });
      });
    const describe: typeof fake.context.describe = async (arn) => {
      checks.push(fake.clock.now - started);
      await sleep(120);
      return fake.context.describe(arn);
    };
    const report = await sweep(started + 5_000, { ...fake.context, checksPerSecond: 30, describe, sleep });
    expect(checks.length).toBeGreaterThanOrEqual(145);
    expect(checks.length).toBeLessThanOrEqual(150);
    for (const from of [0, 1_000, 2_500, 4_000]) {
      expect(checks.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(30);
    }
    expect(report.left).toBe(400 - checks.length);
  });

  test('it checks runs never seen first, however long the others are due', async () => {
    const seen = many(40).map((task) => ({ ...task, seenRound: 1, dueAt: T0 }));
    const fake = fakeContext([...seen, named('new')]);
    for (const { taskId } of seen) fake.executions.put(executionArn(taskId, 1), { status: 'RUNNING' });
    await sweep(fake.clock.now + 1_000, fake.context);
    expect(fake.records.get('new')?.status).toBe('failed');
  });

  test('two checks of one task count as two', async () => {
    const seen = many(100).map((task) => ({ ...task, seenRound: 1 }));
    const machine = MACHINES.replace(/S-$/, 'Mine');
    const fake = fakeContext(seen, { stateMachines: new Map([['x', machine]]) });
    for (const { taskId } of seen) {
      fake.executions.put(executionArn(taskId, 1), { status: 'RUNNING' });
      fake.executions.put(`${machine.replace(':stateMachine:', ':execution:')}:${taskId}-r1`, { status: 'RUNNING' });
    }
    const report = await sweep(fake.clock.now + 4_900, fake.context);
    expect(fake.did.filter((name) => name === 'describe')).toHaveLength(30);
    expect(report).toMatchObject({ due: 15, left: 85 });
  });

  test('what is overdue does not wait behind runs that must be read', async () => {
    const fake = fakeContext([
      ...many(100),
      ...many(20).map((task) => ({ ...task, taskId: `late-${task.taskId}`, deadlineAt: T0 })),
    ]);
    const report = await sweep(fake.clock.now + 1_000, fake.context);
    expect(report.repaired.overdue).toBe(20);
  });

  test('throttled by Step Functions, it leaves the runs alone until the next sweep', async () => {
    const fake = fakeContext(many(20));
    let asked = 0;
    const describe = async (): Promise<never> => {
      asked++;
      throw Object.assign(new Error(), { name: 'ThrottlingException' });
    };
    const report = await sweep(fake.clock.now + 50_000, { ...fake.context, describe });
    expect(asked).toBe(1);
    expect(report).toMatchObject({ left: 19, errors: { ThrottlingException: 1 } });
    expect(failed(fake)).toBe(0);
  });

  test('with no room for a start on Standard, it goes on with others, and with the runs (row 16)', async () => {
    const again = many(20).map((task) => ({ ...task, round: 2, arguments: '{}' }));
    const fake = fakeContext([...again, named('running')]);
    fake.executions.put(executionArn('running', 1), { status: 'RUNNING' });
    const start = vi.fn(() => Promise.reject(new TooManyStarts(true)));
    const report = await sweep(fake.clock.now + 50_000, {
      ...fake.context,
      workflow: { ...fake.context.workflow, start },
    });
    expect(start).toHaveBeenCalledTimes(20);
    expect(report).toMatchObject({ complete: true, left: 20, due: 1, errors: {} });
    expect(fake.records.get('running')).toMatchObject({ seenRound: 1 });
    expect(new Set(again.map(({ taskId }) => fake.records.get(taskId)?.dueAt))).not.toContain(T0 + MINUTE);
  });

  test('with slow checks, it begins none after its end', async () => {
    const fake = fakeContext(many(100));
    const started = fake.clock.now;
    const begun: number[] = [];
    const describe: SweepContext['describe'] = async () => {
      begun.push(fake.clock.now - started);
      fake.clock.now += 1_000;
      return { status: 'RUNNING' };
    };
    const report = await sweep(started + 5_500, { ...fake.context, describe });
    expect(begun).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    expect(report).toMatchObject({ due: 6, left: 94 });
  });

  test('with slow reads, it begins none after its half time, and reads no further page', async () => {
    const fake = fakeContext(many(100, { deadlineAt: T0 }));
    const { get } = fake.context.store;
    const begun: number[] = [];
    const started = fake.clock.now;
    const store = {
      ...fake.context.store,
      get: async (key: Parameters<typeof get>[0]) => {
        begun.push(fake.clock.now);
        fake.clock.now += 1_000;
        return get(key);
      },
    };
    const read: number[] = [];
    const { index } = paged(fake, 5);
    const page: SweepContext['index']['page'] = (shard, until, from) => {
      read.push(shard);
      return index.page(shard, until, from);
    };
    const report = await sweep(started + 50_000, { ...fake.context, store, index: { page } });
    expect(read).toHaveLength(16);
    expect(Math.max(...begun)).toBeLessThan(started + 25_000);
    expect(report.left).toBeGreaterThan(0);
    expect(report.due).toBe(begun.length);
  });
});

test('two sweeps at once settle each task once, and start each answered one once', async () => {
  const fake = fakeContext([
    ...many(30, { deadlineAt: T0 }),
    ...many(20).map((task) => ({ ...task, taskId: `again-${task.taskId}`, round: 2, arguments: '{}' })),
  ]);
  const until = fake.clock.now + 50_000;
  const [one, two] = await Promise.all([sweep(until, fake.context), sweep(until, fake.context)]);
  expect((one?.repaired.overdue ?? 0) + (two?.repaired.overdue ?? 0)).toBe(30);
  expect(fake.executions.all()).toHaveLength(20);
  expect(failed(fake)).toBe(30);
});
