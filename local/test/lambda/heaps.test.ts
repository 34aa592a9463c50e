import { expect, it } from 'vitest';
import { useBench } from './fixtures.ts';

const bench = useBench();

it.each([
  ['in its heap', 'Array.from({ length: megabytes * 131072 }, Math.random)'],
  ['in its buffers', 'Buffer.alloc(megabytes * 2 ** 20)'],
])('returns the memory that each existing worker holds %s', async (_, made) => {
  const keeping = `const kept = [];
    exports.handler = async ({ megabytes, garbage }) => {
      const made = ${made};
      if (!garbage) kept.push(made);
    };`;
  const lambda = bench.open([bench.define('keeping', keeping), bench.define('idle', keeping)]);
  expect(await lambda.heaps()).toEqual([]);
  await lambda.invoke('keeping', '{"megabytes":1}');
  const [before, none] = await lambda.heaps();
  expect(before).toMatchObject({ functionName: 'keeping', workerId: expect.stringMatching(/^keeping-\d+$/) });
  expect(none).toBeUndefined();
  await lambda.invoke('keeping', '{"megabytes":20}');
  const [after] = await lambda.heaps();
  expect((after?.bytes ?? 0) - (before?.bytes ?? 0)).toBeGreaterThan(10 * 2 ** 20);
  await lambda.invoke('keeping', '{"megabytes":20,"garbage":true}');
  const [cleared] = await lambda.heaps();
  expect((cleared?.bytes ?? 0) - (after?.bytes ?? 0)).toBeLessThan(10 * 2 ** 20);
  lambda.kill('keeping');
  expect(await lambda.heaps()).toEqual([]);
});
