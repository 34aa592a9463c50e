import { describe, expect, test } from 'vitest';
import { defineTool, type Task, type ToolEvent } from '../../../functions/tool/index.ts';
import type { RunContext } from '../../../functions/tool/run-context.ts';

const round = { taskId: 't', owner: 'o', table: 'x', results: 'r', round: 1, attempt: 0, deadline: 0 };
const onStandard = { ...round };
/** A run that starts again on Express is at attempt 0, too. */
const onExpress = (run = 'a') => ({ ...round, run });
const event = (task: ToolEvent['task'], requestState: unknown = null): ToolEvent => ({
  ...{ name: 't', arguments: {}, accepts: [], inputResponses: {}, requestState },
  ...(task && { task }),
});
const toolOf = (run: (task: Task) => unknown) =>
  defineTool({ description: 'd', inputSchema: { type: 'object' } }, (_args, task) => run(task) as object);

/** What the table does for the runs of one round (functions/tasks/table/progress-item.ts). */
function sharedTable() {
  const table = {
    stored: undefined as string | undefined,
    calls: [] as string[],
    steps: () => Object.keys(JSON.parse(table.stored ?? '{}').steps ?? {}).toSorted(),
  };
  const context: RunContext = {
    progress: async () => true,
    alive: async () => true,
    async remember(_task, text, before) {
      table.calls.push('remember');
      if (table.stored !== before) return table.stored ?? false;
      table.stored = text;
      return true;
    },
    async recall() {
      table.calls.push('recall');
      return table.stored;
    },
    keep: async (_task, result) => result,
  };
  return { table, context };
}

describe('a run on Express that was lost after two steps', () => {
  const bills = (done: string[], lostAfter: number) =>
    toolOf(async (task) => {
      for (const [index, customer] of ['ada', 'bob', 'cy'].entries()) {
        if (index === lostAfter) throw new Error('lost');
        task.setVariable('last', customer);
        await task.step(customer, () => void done.push(customer));
      }
      return done;
    });

  test('starts again at attempt 0, and does the finished steps no more', async () => {
    const { table, context } = sharedTable();
    const done: string[] = [];
    await expect(bills(done, 2).runWith(event(onExpress('a')), context)).rejects.toThrow('lost');
    await bills(done, 3).runWith(event(onExpress('b')), context);
    expect(done).toEqual(['ada', 'bob', 'cy']);
    expect(table.steps()).toEqual(['ada', 'bob', 'cy']);
    expect(table.calls).toEqual(['recall', 'remember', 'remember', 'recall', 'remember']);
  });

  test('has its variables back at its first step, but not over what it has set since', async () => {
    const { context } = sharedTable();
    const lost = toolOf(async (task) => {
      task.setVariable('kept', 'lost run');
      task.setVariable('set', 'lost run');
      await task.step('one', () => 1);
      throw new Error('lost');
    });
    const saved = { variables: { kept: 'round 1', set: 'round 1' }, steps: {} };
    await expect(lost.runWith(event(onExpress('a'), saved), context)).rejects.toThrow('lost');
    const again = toolOf(async (task) => {
      task.setVariable('set', 'this run');
      await task.step('one', () => 2);
      return [task.getVariable('kept'), task.getVariable('set')];
    });
    expect(await again.runWith(event(onExpress('b'), saved), context)).toEqual(['lost run', 'this run']);
  });
});

describe('a run reads what others have stored', () => {
  test.each([
    ['not on Express without a step', onExpress(), []],
    ['once on Express with steps', onExpress(), ['one', 'two']],
    ['not on Standard in the first attempt', onStandard, ['one', 'two']],
    ['once on Standard in a retry, for the variables', { ...onStandard, attempt: 1 }, []],
    ['not in a direct call', undefined, ['one', 'two']],
  ] as const)('%s', async (times, task, steps) => {
    const { table, context } = sharedTable();
    const tool = toolOf(async (run) => {
      for (const name of steps) await run.step(name, () => 1);
      return {};
    });
    await tool.runWith(event(task), context);
    expect(table.calls.filter((call) => call === 'recall')).toHaveLength(times.startsWith('once') ? 1 : 0);
  });

  test('and again if that failed: the step did not begin', async () => {
    const { context } = sharedTable();
    let reads = 0;
    const recall = async () => (++reads === 1 ? Promise.reject(new Error('throttled')) : undefined);
    const tool = toolOf(async (task) => {
      const one = () => task.step('one', () => 'done');
      return [await one().catch((error: Error) => error.message), await one()];
    });
    expect(await tool.runWith(event(onExpress()), { ...context, recall })).toEqual(['throttled', 'done']);
  });
});

describe('two runs of one round at the same time', () => {
  test('lose no step of each other, and do not repeat what the other has finished', async () => {
    const { table, context } = sharedTable();
    const done: string[] = [];
    const other = toolOf(async (task) => {
      for (const name of ['one', 'two', 'three']) await task.step(name, () => void done.push(`b ${name}`));
      return {};
    });
    const first = toolOf(async (task) => {
      await task.step('one', async () => {
        done.push('a one');
        // The other run overtakes this one.
        await other.runWith(event(onExpress('b')), context);
      });
      for (const name of ['two', 'three', 'four']) await task.step(name, () => void done.push(`a ${name}`));
      return {};
    });
    await first.runWith(event(onExpress('a')), context);
    expect(done).toEqual(['a one', 'b one', 'b two', 'b three', 'a four']);
    expect(table.steps()).toEqual(['four', 'one', 'three', 'two']);
  });

  test('of a step that both have done, the result that was stored first counts in both', async () => {
    const { table, context } = sharedTable();
    const pays = (run: string, meanwhile?: () => Promise<unknown>) =>
      toolOf(async (task) => {
        const order = await task.step('order', async () => {
          await meanwhile?.();
          return `order ${run}`;
        });
        return [order, await task.step('pay', () => `paid ${order}`)];
      });
    const b = pays('b');
    const a = pays('a', () => b.runWith(event(onExpress('b')), context));
    expect(await a.runWith(event(onExpress('a')), context)).toEqual(['order b', 'paid order b']);
    expect(JSON.parse(table.stored ?? '').steps).toEqual({ order: 'order b', pay: 'paid order b' });
  });

  test('also if the other stored it while this one was in two steps at once', async () => {
    const { table, context } = sharedTable();
    const other = toolOf(async (task) => ({ c: await task.step('c', () => 'c of b') }));
    const tool = toolOf(async (task) => {
      const stored = Promise.withResolvers<void>();
      const c = task.step('c', async () => {
        await stored.promise;
        return 'c of a';
      });
      await task.step('d', () => other.runWith(event(onExpress('b')), context));
      stored.resolve();
      return { c: await c };
    });
    expect(await tool.runWith(event(onExpress('a')), context)).toEqual({ c: 'c of b' });
    expect(JSON.parse(table.stored ?? '').steps).toMatchObject({ c: 'c of b' });
  });

  test('an attempt on Standard that was given up does not take away what the next has stored', async () => {
    const { table, context } = sharedTable();
    const next = toolOf(async (task) => {
      await task.step('one', () => 1);
      await task.step('two', () => 2);
      return {};
    });
    const givenUp = toolOf(async (task) => {
      await task.step('one', () => next.runWith(event({ ...onStandard, attempt: 1 }), context));
      return {};
    });
    await givenUp.runWith(event(onStandard), context);
    expect(table.steps()).toEqual(['one', 'two']);
  });
});

test('steps of one run that end together are all stored, in a few writes', async () => {
  const { table, context } = sharedTable();
  const names = Array.from({ length: 50 }, (_, i) => `step ${i}`);
  const tool = toolOf(async (task) => {
    await Promise.all(names.map((name) => task.step(name, () => name)));
    return {};
  });
  await tool.runWith(event(onExpress()), context);
  expect(table.steps()).toEqual(names.toSorted());
  expect(table.calls.length).toBeLessThan(5);
});
