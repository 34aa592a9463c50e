import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemory } from './memory.ts';

const MEGABYTE = 2 ** 20;
/** The memory of a worker at an age, in MB; undefined if it does not live. */
type Life = (minute: number) => number | undefined;
const flat: Life = () => 25;
const ALL = { 'S-ServerEndpoint1-1': flat, 'S-Tools1-2': flat, 'S-ServerReconcilerFunction1-3': flat };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Ten minutes of 500 tasks each, sampled as `npm run proof -- faults --minutes` does. */
async function verdict(lives: Readonly<Record<string, Life>>, own: (minute: number) => number = () => 50, tasks = 500) {
  const begun = performance.now();
  const minute = () => (performance.now() - begun) / 60_000;
  const heaps = async () =>
    Object.entries(lives).flatMap(([workerId, life]) => {
      const held = life(minute());
      return held === undefined ? [] : [{ functionName: '', workerId, bytes: held * MEGABYTE }];
    });
  const memory = createMemory(
    { lambda: { heaps } },
    () => minute() * tasks,
    () => own(minute()) * MEGABYTE,
  );
  while (minute() < 10) {
    vi.advanceTimersByTime(20_000);
    await memory.sample();
  }
  return memory.wrong();
}

describe('the memory of a long run', () => {
  it('is fine where every worker holds in the end what it held in its second minute', async () => {
    expect(await verdict(ALL)).toEqual([]);
  });

  it('is not fine if a worker keeps a part of each request', async () => {
    const leaking: Life = (minute) => 25 + minute;
    expect(await verdict({ ...ALL, 'S-Tools1-2': leaking })).toEqual([expect.stringContaining('S-Tools1-2 has grown')]);
  });

  it("is judged by a worker's own age, even if it replaced others", async () => {
    const { 'S-Tools1-2': _, ...others } = ALL;
    const first: Life = (minute) => (minute < 2 ? 25 : undefined);
    const second =
      (each: number): Life =>
      (minute) =>
        minute > 5 ? 25 + (minute - 5) * each : undefined;
    expect(await verdict({ ...others, 'S-Tools1-2': first, 'S-Tools1-4': second(0) })).toEqual([]);
    expect(await verdict({ ...others, 'S-Tools1-2': first, 'S-Tools1-4': second(3) })).toEqual([
      expect.stringContaining('S-Tools1-4 has grown'),
    ]);
  });

  it.each(Object.keys(ALL))('is not judged without the memory of %s', async (name) => {
    const brief: Life = (minute) => (minute < 2 ? 25 : undefined);
    expect(await verdict({ ...ALL, [name]: brief })).toEqual([expect.stringContaining('lived for three minutes')]);
  });

  it('is not fine where the process keeps more of a task than its texts and events', async () => {
    expect(await verdict(ALL, (minute) => 50 + minute * 6)).toEqual([]);
    expect(await verdict(ALL, (minute) => 50 + minute * 10)).toEqual(['the process keeps too much of each task']);
  });

  it('is not judged by a few tasks', async () => {
    expect(await verdict(ALL, undefined, 50)).toEqual([expect.stringContaining('too few')]);
  });
});
