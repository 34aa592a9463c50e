import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startCloud } from '../cloud.ts';
import { useFaultyCloud } from './faults/bench.ts';
import { writeAssembly } from './fixture.ts';

const HOUR = 3_600_000;
/** Within five minutes: clocks move by hours. */
const about = (at: number) => ({ asymmetricMatch: (value: unknown) => Math.abs(Number(value) - at) < 300_000 });

describe('a movable clock', () => {
  const { cloud, write, run, item } = useFaultyCloud({ movableClock: true });
  const clock = () => cloud().clock;

  test('moves the clocks of the cloud, its functions and its machines, both ways', async () => {
    for (const hours of [2, -3]) {
      clock().advance(hours * HOUR);
      const at = clock().now();
      const { clocks, plain, left } = await write({ id: 'moved' });
      expect(clocks).toEqual([about(at), about(at), about(at)]);
      // The rest of Date is unchanged, and so is the time that an invocation has.
      expect(plain).toEqual([5, true, true]);
      expect(left).toBeGreaterThan(0);
      const { status, stopDate } = await run(`moved-${hours}`);
      expect([status, stopDate?.getTime()]).toEqual(['SUCCEEDED', about(at)]);
      expect(Number((await item(`moved-${hours}`))?.finished?.N)).toEqual(about(at));
    }
    expect(clock().now()).toEqual(about(Date.now() - HOUR));
  });

  test('stops, can be moved then, and continues from there', async () => {
    clock().hold();
    const at = clock().now();
    await sleep(30);
    expect(clock().now()).toBe(at);
    const { clocks } = await write({ id: 'held' });
    expect(clocks.slice(0, 2)).toEqual([at, at]);
    clock().advance(HOUR);
    expect((await write({ id: 'held' })).clocks[0]).toBe(at + HOUR);
    clock().resume();
    clock().resume();
    expect(clock().now()).toEqual(about(at + HOUR));
    await sleep(30);
    expect(clock().now()).toBeGreaterThan(at + HOUR);
  });

  test('may be ahead in one function', async () => {
    clock().skew('Writer', HOUR);
    const { clocks } = await write({ id: 'skewed' });
    expect(clocks[0]).toEqual(about(clock().now() + HOUR));
    clock().skew('Writer', 0);
    expect((await write({ id: 'skewed' })).clocks[0]).toEqual(about(clock().now()));
    expect(() => clock().skew('Nobody', 1)).toThrow('there is no function Nobody');
  });
});

describe('any other clock', () => {
  const assembly = writeAssembly({ resources: {} });

  test('cannot be moved', async () => {
    const cloud = await startCloud({ assembly, now: () => 7 });
    expect(cloud.clock.now()).toBe(7);
    expect(() => cloud.clock.advance(1)).toThrow('start the cloud with movableClock');
    await cloud.stop();
  });

  test('is refused beside a movable one', async () => {
    await expect(startCloud({ assembly, now: () => 7, movableClock: true })).rejects.toThrow('or now, not both');
  });
});
