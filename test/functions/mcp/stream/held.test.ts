import { describe, expect, test, vi } from 'vitest';
import { held, openStream, pauseFor } from '../../../../functions/mcp/stream/held.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { fakeServer } from '../support/fake-server.ts';

const ann = { kind: 'verified', key: 'ann' } as const;

/** A request of Ann that waits. Time passes only while it sleeps. */
function waiting(pause: number, { until = 60_000, grace = 0, most = 1 } = {}) {
  let now = 0;
  const sleep = async (ms: number) => {
    now += ms;
  };
  const { server } = fakeServer({ now: () => now, sleep });
  const counted: string[] = [];
  server.store.openStream = async (owner) => {
    if (counted.length >= most) return undefined;
    counted.push(`opened at ${now}`);
    return { owner, window: 0 };
  };
  server.store.closeStream = async () => void counted.push(`closed at ${now}`);
  const read = async () => now;
  const seen = held({ principal: ann, grace, until, read, pause: () => pause }, server);
  const all = async () => {
    const values: (number | string)[] = [];
    for await (const value of seen) values.push(value);
    return values;
  };
  return { seen, all, counted };
}

describe('a request that waits', () => {
  test('reads after each pause, and for the last time when its time is over', async () => {
    const { all, counted } = waiting(900, { until: 2_000 });
    expect((await all()).filter((value) => value !== 'waiting')).toEqual([0, 900, 1_800, 2_000]);
    expect(counted).toEqual(['opened at 0', 'closed at 2000']);
  });

  test('says each second that it waits', async () => {
    expect(await waiting(2_500, { until: 2_500 }).all()).toEqual([0, 'waiting', 'waiting', 'waiting', 2_500]);
  });

  test('is not counted before it has waited for its grace (C-37)', async () => {
    const { all, counted } = waiting(100, { until: 500, grace: 300 });
    await all();
    expect(counted).toEqual(['opened at 300', 'closed at 500']);
  });

  test('is not counted where nothing is left to wait for, and closed where its reader stops', async () => {
    const over = waiting(100, { until: 0 });
    await over.all();
    expect(over.counted).toEqual([]);
    const { seen, counted } = waiting(100);
    for await (const value of seen) if (value === 100) break;
    expect(counted).toEqual(['opened at 0', 'closed at 100']);
  });

  test('ends as one too many, which it says (C-37)', async () => {
    const { all, counted } = waiting(100, { most: 0 });
    expect([await all(), counted]).toEqual([[0, 'crowded'], []]);
  });
});

test.each([
  [0, 1_000],
  [limits.streamUnits, 1_000],
  [2 * limits.streamUnits, 2_000],
  [100, 12_500],
])('a read of %i units comes %i ms after the one before', (units, pause) => {
  expect(pauseFor(units)).toBe(pause);
});

describe('a stream that cannot be counted', () => {
  const failing = (error: Error) => {
    const { server } = fakeServer();
    server.store.openStream = () => Promise.reject(error);
    return openStream(ann, server);
  };

  test('is held in an outage, which is logged; after another error it is not (C-37)', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(await failing(Object.assign(new Error('no'), { name: 'ThrottlingException' }))).toBeDefined();
    expect(JSON.parse(logged.mock.calls[0]?.[0])).toMatchObject({ where: 'stream count' });
    await expect(failing(new Error('broken'))).rejects.toThrow('broken');
    logged.mockRestore();
  });

  test('is closed once, however often it is asked to', async () => {
    const { server } = fakeServer();
    const closed = vi.spyOn(server.store, 'closeStream');
    const close = await openStream(ann, server);
    await close?.();
    await close?.();
    expect(closed).toHaveBeenCalledTimes(1);
  });
});
