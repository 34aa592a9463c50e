import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { type MapOptions, type Task, ToolError } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';
import { SECOND, waitingTask } from '../waits/support.ts';
import { bounds, event, onStandard, sharedTable, toolOf } from './support.ts';

const again = { ...onStandard, attempt: 1 };
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const doubled = (count: number, options?: MapOptions<number, number>) => (task: Task) =>
  task.map('double', numbers(count), (n) => 2 * n, options);
const resultOf = async (run: (task: Task) => unknown) => (await runTool(toolOf(run), {})).result;
const refused = (text: string) => ({ isError: true, content: [{ text: expect.stringContaining(text) }] });

describe('a map', () => {
  test('does a step for each item, and returns the results in their order', async () => {
    const table = sharedTable();
    const tool = toolOf((task) =>
      task.map('double', numbers(5), async (n, index) => {
        await sleep(10 - 2 * n);
        return `${index}: ${2 * n}`;
      }),
    );
    expect(await tool.runWith(event(onStandard), table.context)).toEqual(['0: 2', '1: 4', '2: 6', '3: 8', '4: 10']);
    expect(table.steps()).toEqual(['double 1/5', 'double 2/5', 'double 3/5', 'double 4/5', 'double 5/5']);
    const none = toolOf((task) => task.map('double', numbers(5), () => 'again'));
    expect(await none.runWith(event(again), table.context)).toEqual(['0: 2', '1: 4', '2: 6', '3: 8', '4: 10']);
  });

  test.each([
    [{}, 10],
    [{ concurrency: 1 }, 1],
    [{ concurrency: 2.5 }, 2],
    [{ concurrency: Number.POSITIVE_INFINITY }, 25],
  ])('works on some items at the same time: %j', async (options, expected) => {
    let [now, most] = [0, 0];
    await resultOf((task) =>
      task.map(
        'items',
        numbers(25),
        async () => {
          most = Math.max(most, ++now);
          await sleep(2);
          now--;
        },
        options,
      ),
    );
    expect(most).toBe(expected);
  });

  test('of no items has no results', async () => {
    expect(await resultOf(doubled(0))).toEqual([]);
  });

  test('has the types of its items and results', () => {
    toolOf(async (task) => {
      const lengths = await task.map('lengths', ['a', 'b'] as const, async (text) => text.length);
      expectTypeOf(lengths).toEqualTypeOf<number[]>();
      return lengths;
    });
  });

  test('fails by the error of an item, once the items under way have ended, and begins no other', async () => {
    const table = sharedTable();
    const tool = (fails: boolean) =>
      toolOf((task) =>
        task.map(
          'items',
          numbers(9),
          async (n) => {
            if (n === 2 && fails) throw new Error('item 2');
            await sleep(n === 2 ? 0 : 10);
            return n;
          },
          { concurrency: 3 },
        ),
      );
    await expect(tool(true).runWith(event(onStandard), table.context)).rejects.toThrow('item 2');
    expect(table.steps()).toEqual(['items 1/9', 'items 3/9']);
    expect(await tool(false).runWith(event(again), table.context)).toEqual(numbers(9));
  });

  test('takes the options of a step', async () => {
    const tries: number[] = [];
    const retried = (task: Task) =>
      task.map(
        'items',
        numbers(2),
        (n) => {
          tries.push(n);
          if (tries.length < 3) throw new Error('no');
          return n;
        },
        { retry: { attempts: 3, backoff: 1 }, concurrency: 1 },
      );
    expect(await resultOf(retried)).toEqual([1, 2]);
    expect(tries).toEqual([1, 1, 1, 2]);
    const once = doubled(2, { atMostOnce: true, retry: { attempts: 2 } });
    await expect(resultOf(once)).rejects.toThrow("Step 'double 1/2': choose between retry and atMostOnce");
  });

  test('goes on past an item that a dead run has begun, if it knows a result for it', async () => {
    const table = sharedTable();
    const items = (dies: boolean, options: MapOptions<number, number>) =>
      toolOf((task) =>
        task.map(
          'items',
          numbers(3),
          (n) => {
            if (n === 2 && dies) throw new Error('dies');
            return n;
          },
          { concurrency: 1, atMostOnce: true, ...options },
        ),
      );
    await expect(items(true, {}).runWith(event(onStandard), table.context)).rejects.toThrow('dies');
    const past = items(false, { interrupted: (n, index) => -10 * n - index });
    for (const attempt of [1, 2]) {
      expect(await past.runWith(event({ ...onStandard, attempt }), table.context)).toEqual([1, -21, 3]);
    }
    await expect(items(false, {}).runWith(event(again), table.context)).rejects.toThrow("Step 'items 2/3' was begun");
  });

  test('begins no further item if it knows none, and throws', async () => {
    const table = sharedTable();
    const done: number[] = [];
    const items = (dies: boolean) =>
      toolOf((task) =>
        task.map(
          'items',
          numbers(9),
          (n) => {
            if (dies) throw new Error('dies');
            done.push(n);
          },
          {
            concurrency: 2,
            atMostOnce: true,
            interrupted: (n) => {
              throw new ToolError(`${n} may have been paid`);
            },
          },
        ),
      );
    await expect(items(true).runWith(event(onStandard), table.context)).rejects.toThrow('dies');
    const ended = await items(false).runWith(event({ ...onStandard, attempt: 1 }), table.context);
    expect(ended).toMatchObject({ isError: true, content: [{ text: '1 may have been paid' }] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual([]);
  });

  test('works for longer than its function may run', async () => {
    const done: number[] = [];
    const { next, clock } = waitingTask((task) =>
      task.map('items', numbers(60), (n) => {
        done.push(n);
        clock.rest -= SECOND;
      }),
    );
    const ends = [];
    for (let round = 1; round <= 3; round++) {
      clock.rest = 30 * SECOND;
      ends.push(Object.keys((await next()).waits ?? {}));
    }
    expect(ends).toEqual([['more'], ['more'], []]);
    expect(done).toEqual(numbers(60));
  });

  test('of a run that dies does not do a finished item again', async () => {
    const done: number[] = [];
    const tool = toolOf((task) => task.map('items', numbers(5), (n) => void done.push(n), { concurrency: 1 }));
    await runTool(tool, {}, { crashAfter: 'items 3/5' });
    expect(done).toEqual(numbers(5));
  });
});

describe('what a map refuses by name', () => {
  test.each([1, 3, 20])('a list of another length than in an earlier run: %d in place of 2', async (count) => {
    const table = sharedTable();
    await toolOf(doubled(2)).runWith(event(onStandard), table.context);
    await expect(toolOf(doubled(count)).runWith(event(again), table.context)).rejects.toThrow(
      `Map 'double' has ${count} items, and had 2 in an earlier run: give it the same list in each`,
    );
    expect(table.steps()).toHaveLength(2);
  });

  test('but not for the steps of another map whose name begins like it', async () => {
    const names = ['a', 'a 1', 'a 1/2'];
    const maps = (task: Task) =>
      Promise.all(names.map((name, index) => task.map(name, numbers(index + 1), (n) => `${name} ${n}`)));
    const table = sharedTable();
    const first = await toolOf(maps).runWith(event(onStandard), table.context);
    expect(await toolOf(maps).runWith(event(again), table.context)).toEqual(first);
  });

  test('a name that comes twice, or that a step has', async () => {
    const twice = async (task: Task) => [await doubled(2)(task), await doubled(2)(task)];
    await expect(resultOf(twice)).rejects.toThrow("Step 'double 1/2' comes twice");
    const step = async (task: Task) => [await task.step('double 2/2', () => 1), await doubled(2)(task)];
    await expect(resultOf(step)).rejects.toThrow("Step 'double 2/2' comes twice");
  });

  test('a name that leaves no room for the places of its items', async () => {
    const most = bounds.name - ` ${bounds.entries}/${bounds.entries}`.length;
    const named = (name: unknown) => resultOf((task) => task.map(name as string, [1], () => 'done'));
    expect(await named('🔑'.repeat(most))).toEqual(['done']);
    for (const name of ['x'.repeat(most + 1), '', 7]) {
      expect(await named(name)).toMatchObject(refused(`a name has 1 to ${most} characters`));
    }
    expect(most).toBe(52);
  });

  test('more items than a task may have steps, before any work', async () => {
    const done: number[] = [];
    const many = numbers(limits.journal.entries + 1);
    expect(await resultOf((task) => task.map('many', many, (n) => done.push(n)))).toMatchObject(
      refused("Map 'many' has 10001 items: a task may have 10000 steps"),
    );
    expect(done).toEqual([]);
  });

  test.each([0, -1, Number.NaN])('%d items at the same time', async (concurrency) => {
    await expect(resultOf(doubled(2, { concurrency }))).rejects.toThrow('concurrency is a number from 1 on');
  });
});
