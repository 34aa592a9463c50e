import { describe, expect, test } from 'vitest';
import { type Fault, type FaultCall, randomFaults } from '../../faults/index.ts';
import { useFaultyCloud } from './bench.ts';

const call = (more: Partial<FaultCall> = {}): FaultCall => ({
  service: 'dynamodb',
  operation: 'PutItem',
  caller: 'Writer',
  at: 'before',
  worker: 'w',
  input: {},
  ...more,
});
/** The faults that strike a thousand calls of each of two kinds. */
const schedule = (seed: number, rate: number) => {
  const choose = randomFaults({ seed, rate });
  return Array.from({ length: 1000 }, () => [choose(call()), choose(call({ at: 'after' }))]);
};
const kindOf = (fault: Fault) => (typeof fault === 'string' ? fault : Object.keys(fault)[0]);

describe('a random schedule', () => {
  test('is the same for the same seed, and another one for another', () => {
    expect(schedule(1, 0.1)).toEqual(schedule(1, 0.1));
    expect(schedule(1, 0.1)).not.toEqual(schedule(2, 0.1));
  });

  test('strikes each kind of call by its own count, with any calls in between', () => {
    const [alone, mixed] = [randomFaults({ seed: 3, rate: 0.2 }), randomFaults({ seed: 3, rate: 0.2 })];
    for (let count = 0; count < 200; count++) {
      mixed(call({ caller: 'Other' }));
      expect(mixed(call())).toEqual(alone(call()));
    }
  });

  test('strikes the given share of calls', () => {
    const struck = schedule(4, 0.1)
      .flat()
      .filter((fault) => fault !== undefined);
    expect(struck.length).toBeGreaterThan(150);
    expect(struck.length).toBeLessThan(250);
    expect(
      schedule(4, 0)
        .flat()
        .every((fault) => fault === undefined),
    ).toBe(true);
    expect(schedule(4, 1).flat()).not.toContain(undefined);
  });

  test('has every kind of fault that fits the call', () => {
    const kinds = (more: Partial<FaultCall>) => {
      const choose = randomFaults({ seed: 5, rate: 1 });
      const faults = Array.from({ length: 300 }, () => choose(call(more))).filter((fault) => fault !== undefined);
      return [...new Set(faults.map(kindOf))].sort();
    };
    expect(kinds({})).toEqual(['delayMs', 'drop', 'error', 'killWorker']);
    expect(kinds({ at: 'after' })).toEqual(['delayMs', 'drop', 'killWorker']);
    expect(kinds({ worker: undefined })).toEqual(['delayMs', 'drop', 'error']);
    expect(kinds({ service: 'lambda', operation: 'Run' })).toEqual(['delayMs', 'killAfterMs', 'killWorker']);
    expect(kinds({ service: 'events', operation: 'Deliver', worker: undefined })).toEqual([
      'delayMs',
      'double',
      'drop',
      'error',
    ]);
  });

  test('reports each fault, and spares the calls that `only` leaves out', () => {
    const reported: string[] = [];
    const choose = randomFaults({
      seed: 6,
      rate: 1,
      only: ({ operation }) => operation === 'PutItem',
      onStrike: ({ operation, at }, fault, count) => reported.push(`${operation} ${at} ${count} ${kindOf(fault)}`),
    });
    choose(call());
    choose(call({ operation: 'GetItem' }));
    choose(call());
    expect(reported).toEqual([
      expect.stringMatching(/^PutItem before 1 /),
      expect.stringMatching(/^PutItem before 2 /),
    ]);
  });
});

describe('under a random schedule', () => {
  const { faults, put, item } = useFaultyCloud();

  test('answered calls were executed, and a repeat completes the others', async () => {
    const handle = faults().use(randomFaults({ seed: 8, rate: 0.3, only: ({ operation }) => operation === 'PutItem' }));
    const ids = Array.from({ length: 60 }, (_, index) => `random-${index}`);
    const failed = new Set<string>();
    for (const id of ids) await put(id).catch(() => failed.add(id));
    expect(failed.size).toBeGreaterThan(0);
    expect(failed.size).toBeLessThan(ids.length);
    handle.remove();
    for (const id of failed) await put(id);
    for (const id of ids) expect(await item(id)).toBeDefined();
  });
});
