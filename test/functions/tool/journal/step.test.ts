import { afterEach, describe, expect, test, vi } from 'vitest';
import { clockOf } from '../../../../functions/tool/clock.ts';
import { TaskEnded, ToolError } from '../../../../functions/tool/errors.ts';
import { openJournal } from '../../../../functions/tool/journal/journal.ts';
import { memoryJournal } from '../../../../functions/tool/journal/port.ts';
import { doStep, type StepOptions } from '../../../../functions/tool/journal/step.ts';
import { RoundEnd } from '../../../../functions/tool/waits/round-end.ts';
import { event, onStandard } from './support.ts';

// What it replaces may already be loaded: test files share a process.
vi.hoisted(() => vi.resetModules());

/** The waits of a step, in ms. They are over at once, or when their signal aborts. */
const waits = vi.hoisted(() => ({ ms: [] as number[], last: false }));
vi.mock('node:timers/promises', async (original) => {
  const timers = await original<typeof import('node:timers/promises')>();
  const setTimeout = (ms: number, _value: unknown, options: { signal: AbortSignal }) => {
    waits.ms.push(ms);
    return timers.setTimeout(waits.last ? 2 ** 30 : 0, undefined, options);
  };
  return { ...timers, setTimeout };
});

afterEach(() => {
  waits.ms.length = 0;
  waits.last = false;
  vi.restoreAllMocks();
});

/** A step whose work throws these errors, one in each try, and then returns the number of its tries. */
function step(errors: readonly unknown[], options: StepOptions, signal = new AbortController().signal) {
  let tries = 0;
  const work = () => {
    if (tries++ < errors.length) throw errors[tries - 1];
    return tries;
  };
  const journal = openJournal(event(onStandard), memoryJournal());
  const run = { journal, clock: clockOf(), signal, begin: () => {} };
  return doStep(run, 's', work, options).catch((error: unknown) => ({ thrown: error }));
}
const no = new Error('no');

describe('retry', () => {
  test.each([
    ['twice as long each time', 1, 100, [100, 200, 400]],
    ['half of that at least, so that runs that failed together do not try together', 0, 100, [50, 100, 200]],
    ['a second at first, unless the step says otherwise', 1, undefined, [1_000, 2_000, 4_000]],
    ['a minute at most', 1, 20_000, [20_000, 40_000, 60_000]],
  ])('waits %s', async (_how, random, backoff, expected) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    const retry = { attempts: 4, ...(backoff !== undefined && { backoff }) };
    expect(await step([no, no, no], { retry })).toBe(4);
    expect(waits.ms).toEqual(expected);
  });

  test.each([3, 1, 0, Number.NaN])('passes the error of the last try on: %d attempts', async (attempts) => {
    expect(await step(Array(9).fill(no), { retry: { attempts } })).toEqual({ thrown: no });
    expect(waits.ms).toHaveLength((attempts || 1) - 1);
  });

  test.each([new ToolError('no'), new TaskEnded(), new RoundEnd()])('passes %s on at once', async (error) => {
    expect(await step([error], { retry: { attempts: 3 } })).toEqual({ thrown: error });
    expect(waits.ms).toEqual([]);
  });

  test('ends its wait when the task is over', async () => {
    waits.last = true;
    const abort = new AbortController();
    const result = step([no], { retry: { attempts: 3 } }, abort.signal);
    await expect.poll(() => waits.ms).toHaveLength(1);
    abort.abort(new TaskEnded());
    expect(await result).toEqual({ thrown: new TaskEnded() });
  });

  test('excludes atMostOnce, before the work', async () => {
    expect(() => step([], { retry: { attempts: 2 }, atMostOnce: true })).toThrow("Step 's': choose between");
  });
});
