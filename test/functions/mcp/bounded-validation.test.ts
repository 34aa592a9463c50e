import { setImmediate } from 'node:timers/promises';
import { Script } from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bounded } from '../../../functions/mcp/bounded-validation.ts';
import type { Validator } from '../../../functions/mcp/manifest.ts';

// In a turn of the event loop that has checked nothing yet.
beforeEach(() => setImmediate());
afterEach(() => vi.restoreAllMocks());

const hostile: Validator = (value) => /^([a-z0-9]+-?)+$/.test(String(value));
/** Takes so many milliseconds of the processor. */
const busyFor =
  (ms: number): Validator =>
  () => {
    const since = process.threadCpuUsage();
    for (let used = { user: 0, system: 0 }; used.user + used.system < 1_000 * ms; used = process.threadCpuUsage(since));
    return true;
  };
const text = `${'a'.repeat(60)}!`;

test('a pattern that would take years ends after half a second; the caller learns what to do', () => {
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const judge = bounded(hostile, 'arguments of slug');
  expect(judge(text)).toBe(false);
  expect(judge.errors).toEqual([
    { instancePath: '', message: expect.stringContaining('make texts and lists shorter') },
  ]);
  expect(said.mock.calls).toEqual([
    [expect.stringContaining('"event":"schema_too_slow","what":"arguments of slug","ms":500')],
  ]);
  expect(said.mock.calls.join()).not.toContain('aaa');
});

test('a page of 50 results that would each take years takes at most 2 s of the processor', () => {
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const judge = bounded(hostile, 'a result of slug');
  const since = process.threadCpuUsage();
  for (let i = 0; i < 50; i++) expect(judge(text)).toBe(false);
  const { user, system } = process.threadCpuUsage(since);
  expect(said).toHaveBeenCalledTimes(1);
  expect(user + system).toBeLessThan(2_000_000);
});

test('the first check of a turn that takes too long is logged, and in the next turn again', async () => {
  const said = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const quick = bounded(() => true, 'quick');
  const judge = bounded(hostile, 'a result of slug');
  for (let turn = 1; turn <= 2; turn++) {
    expect([quick({}), judge(text), judge(text)]).toEqual([true, false, false]);
    expect(said).toHaveBeenCalledTimes(turn);
    await setImmediate();
  }
});

test('the next turn of the event loop has its time again', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  bounded(hostile, 'first')(text);
  expect(bounded(busyFor(1_000), 'second')({})).toBe(false);
  await setImmediate();
  expect(bounded(busyFor(30), 'third')({})).toBe(true);
});

test('a turn has its time again when the one before took all of it in one check', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  // In a container that has checked nothing before.
  vi.resetModules();
  const { bounded } = await import('../../../functions/mcp/bounded-validation.ts');
  bounded(hostile, 'first')(text);
  await setImmediate();
  expect(bounded(busyFor(30), 'second')({})).toBe(true);
  // What was quick has not used up the time.
  expect(bounded(busyFor(30), 'third')({})).toBe(true);
});

test('what ends in time is as the schema says, with its errors; what throws, throws', () => {
  const errors = [{ instancePath: '/a', message: 'must be string' }];
  const judge = bounded(
    Object.assign((value: unknown) => value === 'fits', { errors }),
    'x',
  );
  expect([judge('fits'), judge('not')]).toEqual([true, false]);
  expect(judge.errors).toBe(errors);
  const broken = bounded(() => {
    throw new RangeError('too deep');
  }, 'x');
  expect(() => broken({})).toThrow(RangeError);
});

test('a check that hardly got the processor is repeated; one that used it is not', () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const slowOnce = () => {
    let calls = 0;
    const validate: Validator = (value) => {
      calls += 1;
      return calls > 1 || hostile(value);
    };
    return { judge: bounded(validate, 'x'), calls: () => calls };
  };
  const used = vi.spyOn(process, 'threadCpuUsage').mockReturnValueOnce({ user: 0, system: 0 });
  used.mockReturnValueOnce({ user: 450_000, system: 0 });
  const working = slowOnce();
  expect([working.judge(text), working.calls()]).toEqual([false, 1]);
  used.mockReturnValue({ user: 0, system: 0 });
  const starved = slowOnce();
  expect([starved.judge(text), starved.calls()]).toEqual([true, 2]);
});

/** Timeouts of the tries of checks in one turn that need more time, where each try gets this share of a processor. */
function timeoutsAt(share: number, checks = 1): number[] {
  const timeouts: number[] = [];
  let used = 0;
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: used * 1_000, system: 0 }));
  vi.spyOn(Script.prototype, 'runInThisContext').mockImplementation((options) => {
    const { timeout = 0 } = options as { timeout?: number };
    timeouts.push(timeout);
    used += timeout * share;
    throw Object.assign(new Error('timed out'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
  });
  for (let i = 0; i < checks; i++) expect(bounded(() => true, 'x')({})).toBe(false);
  return timeouts;
}

test.each([
  { memory: 'as on this machine', share: 1, timeouts: [500] },
  { memory: '512 MB', share: 0.29, timeouts: [500, 1_725] },
  { memory: '256 MB', share: 0.145, timeouts: [500, 1_750, 50] },
])('$memory: a check gets up to 0.5 s of the processor, within 2.4 s', ({ share, timeouts }) => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  expect(timeoutsAt(share)).toEqual(timeouts);
});

test.each([
  [50, 4_000],
  [100, 4_500],
])('%i values that take too long block a function with 512 MB for at most %i ms', (checks, most) => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const timeouts = timeoutsAt(0.29, checks);
  expect(timeouts.reduce((sum, one) => sum + one)).toBeLessThan(most);
});

test('after a slow check in the same turn, a pause of the processor makes no other value invalid', () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const clock = vi.spyOn(process, 'threadCpuUsage');
  // A slow check takes all of the time.
  expect(bounded(hostile, 'x')(text)).toBe(false);
  clock.mockReturnValue({ user: 0, system: 0 });
  let calls = 0;
  const paused: Validator = () => {
    calls += 1;
    return calls > 1 || hostile(text);
  };
  expect([bounded(paused, 'x')({}), calls]).toEqual([true, 2]);
});

test('a machine that never gives the processor ends the check all the same', () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  vi.spyOn(process, 'threadCpuUsage').mockReturnValue({ user: 0, system: 0 });
  expect(bounded(hostile, 'x')(text)).toBe(false);
});
