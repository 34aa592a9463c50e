import { describe, expect, test } from 'vitest';
import { event, onExpress, onStandard, sharedTable, toolOf } from './support.ts';

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
    const table = sharedTable();
    const done: string[] = [];
    await expect(bills(done, 2).runWith(event(onExpress('a')), table.context)).rejects.toThrow('lost');
    await bills(done, 3).runWith(event(onExpress('b')), table.context);
    expect(done).toEqual(['ada', 'bob', 'cy']);
    expect(table.steps()).toEqual(['ada', 'bob', 'cy']);
    expect(table.calls).toEqual(['read', 'write ada', 'write bob', 'read', 'write cy']);
  });

  test('has its variables back at its first step, but not over what it has set since', async () => {
    const table = sharedTable();
    const lost = toolOf(async (task) => {
      task.setVariable('kept', 'lost run');
      task.setVariable('set', 'lost run');
      await task.step('one', () => 1);
      throw new Error('lost');
    });
    const saved = { variables: { kept: 'round 1', set: 'round 1' } };
    await expect(lost.runWith(event(onExpress('a'), saved), table.context)).rejects.toThrow('lost');
    const again = toolOf(async (task) => {
      task.setVariable('set', 'this run');
      await task.step('one', () => 2);
      return [task.getVariable('kept'), task.getVariable('set')];
    });
    expect(await again.runWith(event(onExpress('b'), saved), table.context)).toEqual(['lost run', 'this run']);
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
    const table = sharedTable();
    const tool = toolOf(async (run) => {
      for (const name of steps) await run.step(name, () => 1);
      return {};
    });
    await tool.runWith(event(task), table.context);
    expect(table.calls.filter((call) => call === 'read')).toHaveLength(times.startsWith('once') ? 1 : 0);
  });

  test('and again if that failed: the step did not begin', async () => {
    let reads = 0;
    const table = sharedTable({
      read: async () => (++reads === 1 ? Promise.reject(new Error('throttled')) : { entries: [] }),
    });
    const tool = toolOf(async (task) => {
      const one = () => task.step('one', () => 'done');
      return [await one().catch((error: Error) => error.message), await one()];
    });
    expect(await tool.runWith(event(onExpress()), table.context)).toEqual(['throttled', 'done']);
  });
});

describe('two runs of one round at the same time', () => {
  test('lose no step of each other, and do not repeat what the other has finished', async () => {
    const table = sharedTable();
    const done: string[] = [];
    const other = toolOf(async (task) => {
      for (const name of ['one', 'two', 'three']) await task.step(name, () => void done.push(`b ${name}`));
      return {};
    });
    const first = toolOf(async (task) => {
      await task.step('one', async () => {
        done.push('a one');
        // The other run overtakes this one.
        await other.runWith(event(onExpress('b')), table.context);
      });
      for (const name of ['two', 'three', 'four']) await task.step(name, () => void done.push(`a ${name}`));
      return {};
    });
    await first.runWith(event(onExpress('a')), table.context);
    expect(done).toEqual(['a one', 'b one', 'b two', 'b three', 'a four']);
    expect(table.steps()).toEqual(['four', 'one', 'three', 'two']);
  });

  test('of a step that both have done, the result that was stored first counts in both', async () => {
    const table = sharedTable();
    const pays = (run: string, meanwhile?: () => Promise<unknown>) =>
      toolOf(async (task) => {
        const order = await task.step('order', async () => {
          await meanwhile?.();
          return `order ${run}`;
        });
        return [order, await task.step('pay', () => `paid ${order}`)];
      });
    const b = pays('b');
    const a = pays('a', () => b.runWith(event(onExpress('b')), table.context));
    expect(await a.runWith(event(onExpress('a')), table.context)).toEqual(['order b', 'paid order b']);
    expect(Object.values(table.stored).map(({ value }) => value)).toEqual(['"order b"', '"paid order b"']);
  });

  test('also if the other stored it while this one was in two steps at once', async () => {
    const table = sharedTable();
    const other = toolOf(async (task) => ({ c: await task.step('c', () => 'c of b') }));
    const tool = toolOf(async (task) => {
      const stored = Promise.withResolvers<void>();
      const c = task.step('c', async () => {
        await stored.promise;
        return 'c of a';
      });
      await task.step('d', () => other.runWith(event(onExpress('b')), table.context));
      stored.resolve();
      return { c: await c };
    });
    expect(await tool.runWith(event(onExpress('a')), table.context)).toEqual({ c: 'c of b' });
    expect(table.stored.c?.value).toBe('"c of b"');
  });

  test('an attempt on Standard that was given up does not take away what the next has stored', async () => {
    const table = sharedTable();
    const next = toolOf(async (task) => {
      await task.step('one', () => 1);
      await task.step('two', () => 2);
      return {};
    });
    const givenUp = toolOf(async (task) => {
      await task.step('one', () => next.runWith(event({ ...onStandard, attempt: 1 }), table.context));
      return {};
    });
    await givenUp.runWith(event(onStandard), table.context);
    expect(table.steps()).toEqual(['one', 'two']);
  });
});

test('a step costs one write, and no read, whatever came before it', async () => {
  const table = sharedTable();
  const names = Array.from({ length: 50 }, (_, i) => `step ${i}`);
  const tool = toolOf(async (task) => {
    await Promise.all(names.map((name) => task.step(name, () => name)));
    return {};
  });
  await tool.runWith(event(onStandard), table.context);
  expect(table.calls).toEqual(names.map((name) => `write ${name}`));
});
