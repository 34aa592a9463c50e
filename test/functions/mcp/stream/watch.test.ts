import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { watch } from '../../../../functions/mcp/stream/held.ts';
import { logOfRequest } from '../../../../functions/tasks/log.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer } from '../support/fake-server.ts';

const T0 = 1_700_000_000_000;
const key = { owner: 'o', taskId: 't' };
const outage = () => Object.assign(new Error('no'), { name: 'ThrottlingException' });

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** A task that works, and when it was read. Time passes only while the server sleeps. */
function setup(look: () => Promise<unknown> = async () => {}) {
  const at = { now: T0 };
  const reads: number[] = [];
  const fake = fakeServer({
    log: logOfRequest(),
    now: () => at.now,
    async sleep(ms) {
      at.now += ms;
    },
  });
  const record = create(key, { tool: 'x', ttl: 3_600_000, timeout: 3_600_000, accepts: [], legacy: false }, T0);
  fake.server.store.get = async () => {
    reads.push(at.now - T0);
    await look();
    return record;
  };
  const all = async (ms: number) => {
    const seen: unknown[] = [];
    for await (const one of watch({ kind: 'anonymous' }, key, T0 + ms, fake.server)) {
      if (one !== 'waiting') seen.push(one);
    }
    return seen;
  };
  return { ...fake, all, reads, record };
}

describe('a task that is waited for is read', () => {
  test('often at first, then every half second, and at the end', async () => {
    const { all, reads } = setup();
    await all(5_000);
    const pauses = reads.slice(1).map((time, i) => time - (reads[i] ?? 0));
    expect(pauses.slice(0, 3)).toEqual([50, 75, 112.5]);
    expect(pauses.slice(6, -1).every((pause) => pause === 500)).toBe(true);
    expect(Math.max(...pauses)).toBe(500);
    expect(reads.at(-1)).toBe(5_000);
  });

  test('once, if there is no time to wait', async () => {
    const { all, reads } = setup();
    expect(await all(0)).toHaveLength(1);
    expect(reads).toEqual([0]);
  });

  test('again after an outage, which is logged once; one that lasts to the end is an error', async () => {
    let reads = 0;
    const short = setup(async () => {
      if (++reads === 1) throw outage();
    });
    expect((await short.all(50)).length).toBe(1);
    vi.mocked(console.error).mockClear();
    const long = setup(async () => {
      throw outage();
    });
    await expect(long.all(5_000)).rejects.toThrow('no');
    expect(long.reads.length).toBeGreaterThan(10);
    expect(console.error).toHaveBeenCalledTimes(1);
    expect(JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0])).toMatchObject({ where: 'watch' });
  });

  test('to start a round that was never started, at the first read only (row 16)', async () => {
    const { all, did, server, record } = setup();
    const stuck = {
      ...record,
      tool: 'optional',
      arguments: '{}',
      round: 2,
      updatedAt: T0 - 60_000,
      createdAt: T0 - 60_000,
    };
    server.store.get = async () => stuck;
    await all(5_000);
    expect(did.filter((what) => what === 'start')).toHaveLength(1);
  });

  test('not again after another error', async () => {
    const { all, reads } = setup(async () => {
      throw new Error('broken');
    });
    await expect(all(5_000)).rejects.toThrow('broken');
    expect(reads).toEqual([0]);
  });
});
