import { expect, it } from 'vitest';
import { createMemory, machineMemoryMb } from '../../lambda/workers/memory.ts';
import { pause, until, useBench } from './fixtures.ts';

const bench = useBench();
const waits = `exports.handler = async ({ ms }) => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return 'done';
};`;

it('all workers share one memory bound; the first worker of a function always has room', async () => {
  const memory = { memoryMb: 256 };
  const lambda = bench.open([bench.define('many', waits, memory), bench.define('other', waits, memory)], {
    maxMemoryMb: 512,
  });
  let most = 0;
  const counts = () => lambda.workers().map(({ count }) => count);
  const watch = setInterval(() => (most = Math.max(most, counts()[0] ?? 0)), 5);
  const many = Array.from({ length: 8 }, () => lambda.invoke('many', '{"ms":300}'));
  await until(() => counts()[0] === 2);
  const other = lambda.invoke('other', '{"ms":1}');
  expect((await other).payload).toBe('"done"');
  for (const { payload } of await Promise.all(many)) expect(payload).toBe('"done"');
  clearInterval(watch);
  expect(most).toBe(2);
});

it('an idle worker makes room for one of another function', async () => {
  const lambda = bench.open([bench.define('first', waits), bench.define('second', waits)], { maxMemoryMb: 256 });
  await Promise.all([lambda.invoke('first', '{"ms":200}'), lambda.invoke('first', '{"ms":200}')]);
  const both = Promise.all([lambda.invoke('second', '{"ms":500}'), lambda.invoke('second', '{"ms":500}')]);
  await until(() => lambda.workers()[1]?.busy === 2);
  expect(lambda.workers()[0]).toMatchObject({ count: 0 });
  await both;
});

it('a worker that ends makes room for those that wait', async () => {
  const dies = `exports.handler = async () => { await new Promise((resolve) => setTimeout(resolve, 50)); process.exit(1); };`;
  const lambda = bench.open([bench.define('dying', dies), bench.define('waiting', waits)], { maxMemoryMb: 1 });
  const dying = lambda.invoke('dying', '{}');
  await pause(1);
  expect((await lambda.invoke('waiting', '{"ms":1}')).payload).toBe('"done"');
  expect((await dying).functionError).toBe('Unhandled');
  expect((await lambda.invoke('dying', '{}')).functionError).toBe('Unhandled');
});

it('room is counted, and comes back', () => {
  const memory = createMemory(300);
  expect(memory.room(100)).toBe(3);
  expect([memory.take(200, false), memory.take(200, false), memory.take(200, true)]).toEqual([true, false, true]);
  expect(memory.room(100)).toBe(0);
  memory.give(200);
  memory.give(200);
  expect(memory.room(100)).toBe(3);
  expect(machineMemoryMb()).toBeGreaterThan(100);
});
