import { describe, expect, expectTypeOf, test } from 'vitest';
import type { Check, Task } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';
import { event, onStandard, sharedTable, toolOf } from '../journal/support.ts';
import { MINUTE, NOON, SECOND, time, waitingTask } from './support.ts';

const times = { every: { minutes: 5 }, within: { hours: 1 } };

/** A task that waits until a check finds something: what each check in turn finds. */
function polling(found: readonly unknown[], more: object = {}) {
  let checks = 0;
  const played = waitingTask((task) =>
    task.until('ready', () => found[Math.min(checks++, found.length - 1)], { ...times, ...more }),
  );
  return { ...played, checks: () => checks };
}

describe('until', () => {
  test.each([
    [{ url: 'u' }, { url: 'u' }],
    [true, true],
    [null, null],
    [0, 0],
    ['', ''],
  ])('returns the first value that is not undefined or false, without a wait: %j', async (value, expected) => {
    const { next, checks } = polling([value]);
    expect(await next()).toEqual({ result: expected });
    expect(checks()).toBe(1);
  });

  test('waits between its checks as a sleep does, and keeps two entries, however many there are', async () => {
    const { next, clock, table, checks } = polling([undefined, false, undefined, 'found']);
    for (const check of [1, 2, 3]) {
      const until = clock.time + 5 * MINUTE;
      expect(await next()).toMatchObject({ waits: { ready: time(until) } });
      expect(checks()).toBe(check);
      clock.time = until + SECOND;
    }
    expect(await next()).toEqual({ result: 'found' });
    expect(table.calls.filter((call) => call.startsWith('write'))).toEqual(['write ready', 'write ready']);
    // A later run does not check again.
    expect(await next()).toEqual({ result: 'found' });
    expect(checks()).toBe(4);
  });

  test('checks once more when its time is over, and then says so in every run', async () => {
    const { next, clock, checks } = polling([undefined]);
    await next();
    clock.time = NOON + 58 * MINUTE;
    expect(await next()).toMatchObject({ waits: { ready: time(NOON + 60 * MINUTE) } });
    clock.time = NOON + 60 * MINUTE;
    expect(await next()).toEqual({ result: { timedOut: true } });
    expect(await next()).toEqual({ result: { timedOut: true } });
    expect(checks()).toBe(3);
  });

  test('stays in the run for short pauses', async () => {
    const { next, slept } = polling([undefined, undefined, 1], { every: { seconds: 5 } });
    expect(await next()).toEqual({ result: 1 });
    expect(slept).toEqual([5 * SECOND, 5 * SECOND]);
  });

  test('does not begin a check for which too little time is left', async () => {
    let checks = 0;
    const { next, clock } = waitingTask(async (task) => {
      await task.step('start', () => {
        clock.rest = 0;
      });
      return task.until('ready', () => ++checks, times);
    });
    clock.rest = 30 * SECOND;
    expect(await next()).toMatchObject({ waits: { more: { kind: 'more' } } });
    expect(checks).toBe(0);
    expect(await next()).toEqual({ result: 1 });
  });

  test('passes an error of its check on, and checks again in the next run', async () => {
    let checks = 0;
    const { next } = waitingTask((task) =>
      task.until(
        'ready',
        () => {
          if (++checks === 1) throw new Error('no answer');
          return checks;
        },
        times,
      ),
    );
    await expect(next()).rejects.toThrow('no answer');
    expect(await next()).toEqual({ result: 2 });
  });

  test('without a task waits for seconds', async () => {
    let checks = 0;
    const tool = (within: object) =>
      toolOf((task) => task.until('ready', () => ++checks > 1 && 'found', { every: { seconds: 1 }, within }));
    expect(await tool({ seconds: 5 }).runWith(event(undefined), sharedTable().context)).toBe('found');
    const refused = {
      isError: true,
      content: [{ text: expect.stringContaining('without a task it can wait for 10') }],
    };
    expect(await tool({ hours: 1 }).runWith(event(undefined), sharedTable().context)).toMatchObject(refused);
  });

  test('of two runs at once, what the first has stored counts in both', async () => {
    const table = sharedTable();
    const run = (value: string, meanwhile?: () => Promise<unknown>) =>
      toolOf((task) => task.until('ready', async () => ((await meanwhile?.()) === '' ? false : value), times));
    const on = (name: string) => event({ ...onStandard, run: name, envelope: 1, deadline: Date.now() + 1e9 });
    const b = () => run('b').runWith(on('b'), table.context);
    expect(await run('a', b).runWith(on('a'), table.context)).toBe('b');
  });

  test.each([
    [{ every: { seconds: 0.9 } }, "Wait 'ready': every is at least a second"],
    [{ every: { minutes: -1 } }, "Wait 'ready': every: minutes is a number from 0 on"],
    [{ within: { days: 31 } }, "Wait 'ready' ends after the deadline of its task"],
  ])('refuses %j', async (more, message) => {
    const { next, checks } = polling([1], more);
    const text = expect.stringContaining(message);
    expect(await next()).toMatchObject({ result: { isError: true, content: [{ text }] } });
    expect(checks()).toBe(0);
  });

  test('has the type of what it finds', () => {
    toolOf(async (task) => {
      const found = await task.until('ready', async () => (Math.random() > 0.5 ? { id: 'a' } : undefined), times);
      if (!('timedOut' in found)) expectTypeOf(found).toEqualTypeOf<{ id: string }>();
    });
  });

  test('is played in a test of a tool without its time', async () => {
    let checks = 0;
    const check: Check<string> = () => (++checks > 60 ? 'found' : undefined);
    const tool = toolOf((task: Task) => task.until('ready', check, { every: { minutes: 1 }, within: { days: 2 } }));
    expect(await runTool(tool, {})).toMatchObject({ result: 'found', rounds: 61 });
  });
});
