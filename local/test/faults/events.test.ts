import { expect, test } from 'vitest';
import { useFaultyCloud } from './bench.ts';

const { cloud, faults, said } = useFaultyCloud({ timeScale: 100, schedules: false });
const TICK = { service: 'events', operation: 'Deliver', caller: 'Tick' } as const;

async function ticks(): Promise<{ results: number; heard: number }> {
  const before = said('tick');
  const results = await cloud().schedules.fire('Tick');
  return { results: results.filter((result) => result !== undefined).length, heard: said('tick') - before };
}

test('an event is lost', async () => {
  faults().add({ ...TICK, do: 'drop' });
  expect(await ticks()).toEqual({ results: 0, heard: 0 });
  expect(await ticks()).toEqual({ results: 1, heard: 1 });
});

test('an event comes twice', async () => {
  faults().add({ ...TICK, do: 'double' });
  expect((await ticks()).heard).toBe(2);
});

test('an event whose delivery was not confirmed comes again', async () => {
  faults().add({ ...TICK, at: 'after', do: 'drop' });
  expect((await ticks()).heard).toBe(2);
});

test('an event comes late', async () => {
  faults().add({ ...TICK, do: { delayMs: 100 } });
  const begin = performance.now();
  expect((await ticks()).heard).toBe(1);
  expect(performance.now() - begin).toBeGreaterThan(98);
});

test('an event that Lambda refuses is delivered again, then goes to the dead letter queue', async () => {
  const queue = cloud().queues.get(cloud().outputs.UndeliveredName ?? '');
  const throttled = { error: 'TooManyRequestsException', status: 429 };
  faults().add({ ...TICK, do: throttled });
  expect((await ticks()).heard).toBe(1);
  expect(queue).toEqual([]);
  const all = faults().add({ ...TICK, do: throttled, times: 9 });
  expect(await ticks()).toEqual({ results: 0, heard: 0 });
  expect(all.hits).toBe(2);
  expect(queue).toMatchObject([{ attributes: { ERROR_CODE: 'THROTTLING', RETRY_ATTEMPTS: '1' } }]);
});

test('an event whose worker dies runs in another worker, a minute later', async () => {
  faults().add({ service: 'lambda', operation: 'Run', caller: 'Ticker', do: 'killWorker' });
  const before = said('tick');
  const [result] = await cloud().schedules.fire('Tick');
  expect([result?.functionError, said('tick') - before]).toEqual(['Unhandled', 0]);
  await expect.poll(() => said('tick') - before).toBe(1);
});
