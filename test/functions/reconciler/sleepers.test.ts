import { expect, test } from 'vitest';
import { sweep } from '../../../functions/reconciler/sweep.ts';
import { shardOf } from '../../../functions/tasks/ids.ts';
import { fakeContext, MINUTE, record, T0 } from './fake-context.ts';

const TASKS = 10_000;
/** What StartExecution takes in a second in the smaller regions, past its bucket (limits.md, "Tasks a second"). */
const QUOTA = 150;
/** How long one sweep works: most of the time of its function, which is a minute. */
const WORKS = 50_000;
/** One strongly consistent read, in ms. */
const READ = 5;

test('10,000 tasks that sleep until one minute all go on within five minutes, by the sweep alone', async () => {
  const until = T0 + 60 * MINUTE;
  const waits = JSON.stringify({ nap: { kind: 'time', until } });
  const sleeper = (_: unknown, i: number) =>
    record({
      ...{ taskId: `t${i}`, due: String(shardOf(`t${i}`, 16)), status: 'waiting', waits, dueAt: until },
      ...{ arguments: '{}', asked: '{"requestState":null}', deadlineAt: until + 60 * MINUTE, ttl: 180 * MINUTE },
    });
  const fake = fakeContext(Array.from({ length: TASKS }, sleeper));
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
        starts.push(fake.clock.now - until);
        return fake.context.workflow.start(...run);
      },
    },
  };
  for (let minute = 1; minute <= 4; minute++) {
    fake.clock.now = until + minute * MINUTE;
    await sweep(fake.clock.now + WORKS, context);
  }
  expect(fake.records.all().every(({ status, round }) => status === 'working' && round === 2)).toBe(true);
  expect(starts).toHaveLength(TASKS);
  expect(starts.at(-1)).toBeLessThan(5 * MINUTE);
  const bySecond = Map.groupBy(starts, (at) => Math.floor(at / 1_000));
  expect(Math.max(...[...bySecond.values()].map(({ length }) => length))).toBeLessThanOrEqual(QUOTA);
});
