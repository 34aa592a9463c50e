import { describe, expect, test } from 'vitest';
import { type Clock, clockOf, spareOf } from '../../../../functions/tool/clock.ts';
import type { Task } from '../../../../functions/tool/index.ts';
import { elicitForm } from '../../../../functions/tool/index.ts';
import { event, onStandard, sharedTable, toolOf } from '../journal/support.ts';
import { DAY, MINUTE, NOON, SECOND, waitingTask } from './support.ts';

const MORE = { waits: { more: { kind: 'more' } } };

/** A tool of steps that take a second each, in runs of a function with this timeout. */
function working(timeout: number, run: (task: Task, step: (name: string) => Promise<unknown>) => unknown) {
  const done: string[] = [];
  const takes = (name: string) => () => {
    done.push(name);
    played.clock.time += SECOND;
    played.clock.rest -= SECOND;
    return name;
  };
  const played = waitingTask((task) => run(task, (name) => task.step(name, takes(name))));
  return {
    ...{ done, takes, ...played },
    next(...given: Parameters<typeof played.next>) {
      played.clock.rest = timeout;
      return played.next(...given);
    },
  };
}

/** The clock of a function that has no time left once its run has begun. */
function shrinking(): Clock {
  const left = [1_000];
  return { ...clockOf(), left: () => left.shift() ?? 0 };
}

const steps = (count: number) => async (_task: Task, step: (name: string) => Promise<unknown>) => {
  for (let i = 1; i <= count; i++) await step(`${i}`);
  return 'done';
};

describe('a tool in steps', () => {
  test('works longer than its function may run, and does each step once', async () => {
    const { next, done } = working(30 * SECOND, steps(60));
    expect(await next()).toMatchObject(MORE);
    expect(done).toHaveLength(25);
    expect(await next()).toMatchObject(MORE);
    expect(await next()).toEqual({ result: 'done' });
    expect(done).toEqual(Array.from({ length: 60 }, (_, i) => `${i + 1}`));
  });

  test('begins no step that takes as long as one before, if less time is left', async () => {
    const { next, done, clock } = working(15 * MINUTE, async (task) => {
      for (const name of ['1', '2', '3']) {
        await task.step(name, () => {
          done.push(name);
          clock.time += 5 * MINUTE;
          clock.rest -= 5 * MINUTE;
        });
      }
      return 'done';
    });
    expect(await next()).toMatchObject(MORE);
    expect(done).toEqual(['1', '2']);
    expect(await next()).toEqual({ result: 'done' });
  });

  test('of one step that takes more than a run begins it, and so does not loop', async () => {
    const { next, done } = working(0, steps(1));
    expect(await next()).toEqual({ result: 'done' });
    const { next: again, done: all } = working(0, steps(3));
    const ended = [await again(), await again(), await again()];
    expect(ended).toMatchObject([MORE, MORE, { result: 'done' }]);
    expect([done, all]).toEqual([['1'], ['1', '2', '3']]);
  });

  test.each([true, false])(
    'ends in no step that has begun, at a file or step inside of it (atMostOnce %s)',
    async (atMostOnce) => {
      const { next, done, clock } = working(15 * MINUTE, async (task) => {
        await task.step('before', () => {
          clock.time += 10 * MINUTE;
          clock.rest -= 10 * MINUTE;
        });
        clock.rest += 10 * MINUTE;
        await task.step(
          'charge',
          async () => {
            done.push('charged');
            clock.rest = 1 * SECOND;
            await task.file('receipt.txt', 'paid');
            await task.step('inside', () => 1);
          },
          { atMostOnce },
        );
        return 'done';
      });
      expect(await next()).toEqual({ result: 'done' });
      expect(done).toEqual(['charged']);
    },
  );

  test('ends with the steps of earlier rounds, however little time is left', async () => {
    const { next, done } = working(30 * SECOND, steps(25));
    expect(await next()).toEqual({ result: 'done' });
    const { next: again } = working(0, steps(3));
    for (let round = 1; round < 3; round++) await again();
    expect([await again(), await again()]).toEqual([{ result: 'done' }, { result: 'done' }]);
    expect(done).toHaveLength(25);
  });

  test('ends its round also where another run stores each step first', async () => {
    const table = sharedTable();
    const clock = shrinking();
    const other = toolOf(async (task) => [await task.step('a', () => 1), await task.step('b', () => 2)]);
    const tool = toolOf(async (task) => {
      await task.step('a', () => other.runWith(event({ ...onStandard, run: 'b' }), table.context));
      await task.step('c', () => 3);
    });
    const ended = await tool.runWith(event({ ...onStandard, run: 'a', envelope: 1 }), table.context, clock);
    expect(ended).toMatchObject(MORE);
    expect(table.steps()).toEqual(['a', 'b']);
  });

  test('counts the work of a step, and not how long the step waits for its turn', async () => {
    const { next, clock, table } = working(13 * SECOND, async (task) => {
      const check = task.step('check', () => done.resolve()).then(() => task.step('next', () => 'done'));
      return (await Promise.all([check, task.sleep('late', { seconds: 9 })]))[0];
    });
    const done = Promise.withResolvers<void>();
    const { sleep } = clock;
    clock.sleep = (ms) => done.promise.then(() => sleep(ms));
    // An earlier run got past the sleep while the step was under way.
    const value = '{"wait":"late","beside":["step#check"],"inside":[]}';
    const pass = { kind: 'pass', name: '0', value } as const;
    await table.context.journal.write(event(onStandard).task as never, pass);
    expect(await next({}, { attempt: 1 })).toEqual({ result: 'done' });
  });

  test('waits for what is under way, and begins nothing else', async () => {
    const { next, takes, done, clock } = working(30 * SECOND, (task) =>
      Promise.all([
        task.step('long', async () => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          return takes('long')();
        }),
        (async () => {
          await task.step('short', takes('short'));
          clock.rest = 0;
          await task.step('next', takes('next'));
        })(),
      ]).then(() => 'done'),
    );
    expect(await next()).toMatchObject(MORE);
    expect(done).toEqual(['short', 'long']);
    expect(await next()).toEqual({ result: 'done' });
    expect(done).toEqual(['short', 'long', 'next']);
  });

  test('lets what is under way report and set variables', async () => {
    const { next, clock } = working(30 * SECOND, (task) =>
      Promise.all([
        task.step(
          'long',
          async () => {
            await new Promise((resolve) => setTimeout(resolve, 20));
            await task.progress('Still at work');
            task.setVariable('long', task.round);
          },
          { atMostOnce: true },
        ),
        (async () => {
          await task.step('short', () => {
            if (task.round === 1) clock.rest = 0;
          });
          await task.step('next', () => 1);
        })(),
      ]).then(() => task.getVariable('long')),
    );
    expect(await next()).toEqual({ requestState: { variables: { long: 1 } }, ...MORE });
    expect(await next({ requestState: { variables: { long: 1 } } })).toEqual({ result: 1 });
  });

  test.each([
    ['catches it and returns', () => 'wrong'],
    ['throws another error in its place', () => Promise.reject(new Error('Cannot fetch the page'))],
  ])('goes on in the next round though its code %s', async (_what, instead) => {
    const { next, takes, done, clock } = working(30 * SECOND, async (task) => {
      await task.step('one', takes('one'));
      if (task.round === 1) clock.rest = 0;
      try {
        return await task.step('two', takes('two'));
      } catch {
        return instead();
      }
    });
    expect(await next()).toMatchObject(MORE);
    expect(await next()).toEqual({ result: 'two' });
    expect(done).toEqual(['one', 'two']);
  });

  test('keeps no variable that its code sets once the run has to end', async () => {
    const { next, takes, clock } = working(30 * SECOND, async (task) => {
      task.setVariable('failed', []);
      for (const name of ['one', 'two', 'three']) {
        try {
          await task.step(name, takes(name));
          if (task.round === 1) clock.rest = 0;
        } catch {
          task.setVariable('failed', [...(task.getVariable<string[]>('failed') ?? []), name]);
        }
      }
      return task.getVariable('failed');
    });
    expect(await next()).toEqual({ requestState: { variables: { failed: [] } }, ...MORE });
    expect(await next()).toEqual({ result: [] });
  });

  test('first does its work, if it waits for a day and for an answer at the same time', async () => {
    const ask = elicitForm('Really?', {});
    const { next, takes, clock } = working(30 * SECOND, (task) =>
      Promise.all([
        task.sleep('night', { days: 1 }),
        task.requireInput({ sure: ask }),
        (async () => {
          await task.step('one', takes('one'));
          if (task.round === 1) clock.rest = 0;
          await task.step('two', takes('two'));
        })(),
      ]).then(() => 'done'),
    );
    expect(await next()).toEqual({ requestState: { variables: {} }, ...MORE });
    expect(await next()).toMatchObject({
      inputRequests: { sure: ask },
      waits: { night: { kind: 'time', until: NOON + DAY } },
    });
  });

  test('has no other round in a direct call, or where the workflow takes no envelope', async () => {
    const clock = shrinking();
    const tool = toolOf(async (task) => [await task.step('a', () => 1), await task.step('b', () => 2)]);
    for (const task of [undefined, onStandard]) {
      expect(await tool.runWith(event(task), sharedTable().context, clock)).toEqual([1, 2]);
    }
  });
});

test.each([
  ['3 s', 3_000, 750],
  ['10 s', 10_000, 2_500],
  ['20 s', 20_000, 5_000],
  ['30 s', 30_000, 5_000],
  ['2 min', 120_000, 12_000],
  ['15 min', 900_000, 60_000],
])('a function of %s keeps some of its time for the end of its run', (_what, total, margin) => {
  expect(spareOf({ ...clockOf(), left: () => total }, undefined)()).toBe(total - margin);
});

test('on Express the time of a run is over with the round, too', () => {
  const clock = { ...clockOf(), now: () => NOON, left: () => 4 * MINUTE };
  const ends = (deadline: number, taskDeadline: number) =>
    spareOf(clock, { ...onStandard, run: 'r', deadline, taskDeadline })();
  expect(ends(NOON + MINUTE, NOON + DAY)).toBe(MINUTE - 6 * SECOND);
  // Another round would be too late, too.
  expect(ends(NOON + MINUTE, NOON + MINUTE)).toBe(4 * MINUTE - 24 * SECOND);
});
