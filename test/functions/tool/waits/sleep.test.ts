import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { Task, ToolEvent } from '../../../../functions/tool/index.ts';
import { elicitForm, TaskEnded, ToolError } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';
import { event, onStandard, sharedTable, toolOf } from '../journal/support.ts';
import { DAY, MINUTE, NOON, SECOND, time, waitingTask } from './support.ts';

const night = (task: Task) => task.sleep('night', { hours: 8, minutes: 0.5 }).then(() => 'awake');
const END = NOON + 8 * 60 * MINUTE + 30 * SECOND;

describe('a sleep', () => {
  test('of hours ends the round, and every later run sleeps until the same moment', async () => {
    const { next, clock, table, slept } = waitingTask(night);
    expect(await next()).toEqual({ requestState: { variables: {} }, waits: { night: time(END) } });
    expect(table.stored.night).toEqual({ kind: 'wait', name: 'night', value: `{"kind":"time","until":${END}}` });
    clock.time += 3 * 60 * MINUTE;
    expect(await next()).toMatchObject({ waits: { night: time(END) } });
    clock.time = END;
    expect(await next()).toEqual({ result: 'awake' });
    expect(slept).toEqual([]);
  });

  test.each([
    ['a few seconds', { seconds: 9 }, [9 * SECOND]],
    ['until a date that comes soon', { until: new Date(NOON + 10 * SECOND) }, [10 * SECOND]],
    ['no time', { seconds: 0 }, []],
    ['until a moment that has passed', { until: NOON - 1 }, []],
  ])('of %s does not end the round', async (_what, length, expected) => {
    const { next, slept } = waitingTask((task) => task.sleep('short', length).then(() => 'awake'));
    expect(await next()).toEqual({ result: 'awake' });
    expect(slept).toEqual(expected);
  });

  test('ends in the run if the clock of the run is a little behind', async () => {
    const { next, clock, slept } = waitingTask(night);
    await next();
    clock.time = END - 800;
    expect(await next()).toEqual({ result: 'awake' });
    expect(slept).toEqual([800]);
  });

  test('of a few seconds ends the round if the function has less time', async () => {
    const { next, clock } = waitingTask((task) => task.sleep('short', { seconds: 5 }));
    clock.rest = 4 * SECOND;
    expect(await next()).toMatchObject({ waits: { short: time(NOON + 5 * SECOND) } });
  });

  test('goes on until its time, also if a timer ends too early', async () => {
    const { next, clock, slept } = waitingTask((task) => task.sleep('short', { seconds: 2 }).then(() => clock.time));
    clock.sleep = async (ms) => {
      slept.push(ms);
      clock.time += Math.ceil(ms / 2);
    };
    expect(await next()).toEqual({ result: NOON + 2 * SECOND });
    expect(slept.length).toBeGreaterThan(5);
  });

  test('in the run ends when the task is cancelled', async () => {
    let thrown: unknown;
    const tool = toolOf(async (task) => {
      thrown = await task.sleep('short', { seconds: 9 }).catch((error) => error);
      throw thrown;
    });
    const context = { ...sharedTable().context, alive: async () => false };
    const deadline = Date.now() + DAY;
    expect(await tool.runWith(event({ ...onStandard, deadline, envelope: 1 }), context)).toMatchObject({
      isError: true,
    });
    expect(thrown).toBeInstanceOf(TaskEnded);
  });
});

describe('what a task waits for at the same time', () => {
  const ask = elicitForm('Really?', { ok: { type: 'boolean' } });

  test('ends one round, with a question beside it', async () => {
    const { next, clock } = waitingTask((task) =>
      Promise.all([
        task.sleep('a', { days: 1 }),
        task.requireInput({ sure: ask }),
        (async () => {
          await task.step('known', () => 1);
          await task.sleep('b', { days: 2 });
        })(),
      ]).then(([, { sure }]) => sure.action),
    );
    await next();
    clock.time += MINUTE;
    expect(await next()).toMatchObject({
      inputRequests: { sure: ask },
      waits: { a: time(NOON + DAY), b: time(NOON + 2 * DAY) },
    });
    clock.time += 2 * DAY;
    const inputResponses = { sure: { action: 'decline' } };
    expect(await next({ inputResponses })).toEqual({ result: 'decline' });
  });

  test('may be more than a round has room for: the next one has the rest', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `nap ${i}`);
    const { next, clock } = waitingTask((task) => Promise.all(names.map((name) => task.sleep(name, { days: 1 }))));
    const waits = Object.keys((await next()).waits ?? {});
    expect(waits).toEqual(names.slice(0, 20));
    clock.time += DAY;
    expect(await next()).toEqual({ result: Array(25).fill(undefined) });
  });

  test('takes no more of the record than it has room for: the next round has the rest', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `${i} `.padEnd(64, '中'));
    const { next, clock } = waitingTask((task) => Promise.all(names.map((name) => task.sleep(name, { days: 1 }))));
    const { waits } = await next();
    const size = (count: number) =>
      Buffer.byteLength(
        JSON.stringify(Object.fromEntries(names.slice(0, count).map((name) => [name, time(NOON + DAY)]))),
      );
    const kept = Object.keys(waits ?? {});
    expect(kept).toEqual(names.slice(0, kept.length));
    expect([size(kept.length) <= limits.waits.bytes, size(kept.length + 1) > limits.waits.bytes]).toEqual([true, true]);
    clock.time += DAY;
    expect(await next()).toEqual({ result: Array(20).fill(undefined) });
  });

  test('may begin to be awaited after other work', async () => {
    const { next, clock } = waitingTask(async (task) => {
      const nap = task.sleep('nap', { days: 1 });
      await task.step('work', async () => await new Promise((resolve) => setTimeout(resolve, 5)));
      await nap;
      return 'done';
    });
    expect(await next()).toMatchObject({ waits: { nap: time(NOON + DAY) } });
    clock.time += DAY;
    expect(await next()).toEqual({ result: 'done' });
  });

  test('may come before the await of steps that have begun: the end of the round is handled', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
    const { next, clock } = waitingTask(async (task) => {
      const slow = task.step('slow', () => pause().then(() => 1));
      const each = task.map('each', [2, 3], (item) => pause().then(() => item), { concurrency: 1 });
      await task.sleep('nap', { days: 1 });
      return [await slow, ...(await each)];
    });
    process.on('unhandledRejection', note);
    expect(await next()).toMatchObject({ waits: { nap: time(NOON + DAY) } });
    await pause();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    clock.time += DAY;
    expect(await next()).toEqual({ result: [1, 2, 3] });
  });
});

describe('a run that catches the end of its round', () => {
  test('ends it all the same: what it returns is made without an answer', async () => {
    const done: string[] = [];
    const { next } = waitingTask(async (task) => {
      await task.sleep('nap', { days: 1 }).catch(() => {});
      await task.step('pay', () => done.push('paid')).catch(() => {});
      return 'paid';
    });
    expect(await next()).toMatchObject({ waits: { nap: time(NOON + DAY) } });
    expect(done).toEqual([]);
  });

  test('fails if it throws something else', async () => {
    const { next } = waitingTask(async (task) => {
      await task.sleep('nap', { days: 1 }).catch(() => {});
      throw new ToolError('no');
    });
    expect(await next()).toMatchObject({ result: { isError: true } });
  });
});

describe('a time that is not valid is refused by name', () => {
  test.each([
    ['a negative one', { hours: -1 }, 'hours is a number from 0 on, and not -1'],
    ['no number', { minutes: Number.NaN }, 'minutes is a number from 0 on, and not NaN'],
    ['a text', { seconds: '5' }, 'seconds is a number from 0 on, and not 5'],
    ['another unit', { weeks: 1 }, "takes days, hours, minutes and seconds, and not 'weeks'"],
    ['a member of every object', { constructor: 1 }, "not 'constructor'"],
    ['nothing', {}, 'give days, hours, minutes or seconds'],
    ['undefined', undefined, 'give days, hours, minutes or seconds'],
    ['an invalid date', { until: new Date('x') }, 'until is a Date, or milliseconds since the epoch'],
    ['a date as text', { until: '2027-01-02' }, 'until is a Date, or milliseconds since the epoch'],
    ['one past the deadline', { days: 31 }, 'ends after the deadline of its task, 2027-01-31T12:00:00.000Z'],
    ['one past the last date', { until: 1e300 }, 'ends after the deadline of its task'],
    ['infinity', { days: Number.POSITIVE_INFINITY }, 'ends after the deadline of its task'],
  ])('%s', async (_what, wrong, message) => {
    const { next, table } = waitingTask((task) => task.sleep('nap', wrong as object));
    expect(await next()).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining(message) }] },
    });
    expect(table.steps()).toEqual([]);
  });

  test('on Express by the deadline of the task, not of the run', async () => {
    const { next } = waitingTask((task) => task.sleep('nap', { days: 1 }));
    const onExpress = { run: 'r', deadline: NOON + MINUTE, taskDeadline: NOON + 2 * DAY };
    expect(await next({}, onExpress)).toMatchObject({ waits: { nap: time(NOON + DAY) } });
  });

  test.each(['', 'x'.repeat(65), '\ud800'])('and so is a name: %j', async (name) => {
    const { next } = waitingTask((task) => task.sleep(name, { days: 1 }));
    const text = expect.stringContaining('a name has 1 to 64 characters');
    expect(await next()).toMatchObject({ result: { isError: true, content: [{ text }] } });
  });

  test('two sleeps of one name are a mistake', async () => {
    const { next } = waitingTask(async (task) => {
      for (const _time of [1, 2]) await task.sleep('nap', { seconds: 1 });
    });
    await expect(next()).rejects.toThrow("Sleep 'nap' comes twice");
  });
});

describe('without a task', () => {
  const direct = (run: (task: Task) => unknown, more: Partial<ToolEvent> = {}) =>
    toolOf(run)({ ...event(undefined), ...more });

  test('it sleeps in the call', async () => {
    expect(await direct((task) => task.sleep('nap', { seconds: 0.01 }).then(() => 'awake'))).toBe('awake');
  });

  test.each([undefined, { ...onStandard, deadline: NOON }])('a longer sleep says what to do: %j', async (task) => {
    const text = "Sleep 'nap': without a task it can wait for 10 seconds: call the tool as a task";
    expect(await direct(({ sleep }) => sleep('nap', { seconds: 11 }), { ...(task && { task }) })).toEqual({
      isError: true,
      content: [{ type: 'text', text }],
    });
  });
});

describe('a test of a tool', () => {
  test('skips the time: a sleep of days ends at once', async () => {
    const tool = toolOf(async (task) => {
      await task.sleep('night', { days: 200 });
      await task.sleep('nap', { seconds: 5 });
      return task.round;
    });
    expect(await runTool(tool, {})).toMatchObject({ result: 2, rounds: 2 });
  });

  test('takes the time if it says so', async () => {
    const begun = Date.now();
    await runTool(
      toolOf((task) => task.sleep('nap', { seconds: 0.05 })),
      {},
      { skipTime: false },
    );
    expect(Date.now() - begun).toBeGreaterThanOrEqual(50);
  });

  test('crashes in the sleep of a tool without losing its end', async () => {
    const tool = toolOf(async (task) => {
      await task.sleep('night', { days: 1 });
      await task.step('morning', () => 1);
      return task.attempt;
    });
    expect(await runTool(tool, {}, { crashAfter: 'morning' })).toMatchObject({ result: 1, rounds: 2 });
  });
});
