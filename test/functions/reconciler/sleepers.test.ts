import { expect, test } from 'vitest';
import { sweep } from '../../../functions/reconciler/sweep.ts';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { shardOf } from '../../../functions/tasks/ids.ts';
import { engines, fakeContext, MINUTE, record, T0 } from './fake-context.ts';

const TASKS = 10_000;
/** What StartExecution takes in a second in the smaller regions, past its bucket (limits.md, "Tasks a second"). */
const QUOTA = 150;
/** How long one sweep works: most of the time of its function, which is a minute. */
const WORKS = 50_000;
/** One strongly consistent read, in ms. */
const READ = 5;

const UNTIL = T0 + 60 * MINUTE;
const sleeper = (taskId: string, tool = 'x') =>
  record({
    ...{ taskId, tool, due: String(shardOf(taskId, 16)), status: 'waiting', dueAt: UNTIL },
    ...{ waits: JSON.stringify({ nap: { kind: 'time', until: UNTIL } }), arguments: '{}' },
    ...{ asked: '{"requestState":null}', deadlineAt: UNTIL + 60 * MINUTE, ttl: 180 * MINUTE },
  });

test('10,000 tasks that sleep until one minute all go on within five minutes, by the sweep alone', async () => {
  const fake = fakeContext(Array.from({ length: TASKS }, (_, i) => sleeper(`t${i}`)));
  const starts: number[] = [];
  let reads = 0;
  const context: typeof fake.context = {
    ...fake.context,
    store: {
      ...fake.context.store,
      async get(key) {
        // 16 reads are under way at once.
        if (++reads % 16 === 0) fake.clock.now += READ;
        return fake.context.store.get(key);
      },
    },
    workflow: {
      ...fake.context.workflow,
      async start(...run) {
        starts.push(fake.clock.now - UNTIL);
        return fake.context.workflow.start(...run);
      },
    },
  };
  for (let minute = 1; minute <= 4; minute++) {
    fake.clock.now = UNTIL + minute * MINUTE;
    await sweep(fake.clock.now + WORKS, context);
  }
  expect(fake.records.all().every(({ status, round }) => status === 'working' && round === 2)).toBe(true);
  expect(starts).toHaveLength(TASKS);
  expect(starts.at(-1)).toBeLessThan(5 * MINUTE);
  const bySecond = Map.groupBy(starts, (at) => Math.floor(at / 1_000));
  expect(Math.max(...[...bySecond.values()].map(({ length }) => length))).toBeLessThanOrEqual(QUOTA);
});

test('a start without room lets fewer rounds begin, and none of another engine wait (row 24)', async () => {
  const tasks = [
    ...Array.from({ length: 200 }, (_, i) => sleeper(`t${i}`)),
    ...Array.from({ length: 100 }, (_, i) => sleeper(`e${i}`, 'y')),
  ];
  const fake = fakeContext(tasks, { toolEngine: engines({ x: 'standard', y: 'express' }) });
  fake.clock.now = UNTIL + MINUTE;
  const refused = new Map<number, number>();
  const workflow: (typeof fake.context)['workflow'] = {
    ...fake.context.workflow,
    async start(round) {
      if (round.engine === 'express') return;
      refused.set(fake.clock.now, (refused.get(fake.clock.now) ?? 0) + 1);
      throw new TooManyStarts(true);
    },
  };
  const report = await sweep(fake.clock.now + WORKS, { ...fake.context, workflow });
  expect([...refused.values()].slice(0, 4)).toEqual([80, 20, 5, 5]);
  expect(fake.records.all().filter(({ tool, round }) => tool === 'y' && round === 2)).toHaveLength(100);
  expect(report).toMatchObject({ complete: true, errors: {} });
});
