import { expect, test } from 'vitest';
import { createCallLog } from '../wire/call-log.ts';

const call = (at: number) => ({ at, caller: 'c', service: 's', operation: 'o', input: {}, status: 200 });

test('a mark gives the calls after it', () => {
  const log = createCallLog(10);
  log.add(call(1));
  const mark = log.mark();
  log.add(call(2));
  expect(log.since(mark).map(({ at }) => at)).toEqual([2]);
  expect(log.since().map(({ at }) => at)).toEqual([1, 2]);
});

test('the oldest calls are dropped first, and a mark before them is refused', () => {
  const log = createCallLog(10);
  const start = log.mark();
  for (let at = 0; at < 25; at++) log.add(call(at));
  expect(log.since().at(-1)?.at).toBe(24);
  expect(log.since().length).toBeGreaterThanOrEqual(10);
  expect(log.since().length).toBeLessThan(20);
  expect(() => log.since(start)).toThrow('were dropped');
  const mark = log.mark();
  log.add(call(25));
  expect(log.since(mark).map(({ at }) => at)).toEqual([25]);
});
