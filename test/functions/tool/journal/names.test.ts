import { describe, expect, test } from 'vitest';
import { elicitForm, type Task } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';
import { waitingTask } from '../waits/support.ts';
import { toolOf } from './support.ts';

const retry = { attempts: 3, backoff: 1 };
const DAY = { days: 1 };

/** Does this in a step, whose first two tries then fail. */
async function thirdTime(task: Task, work: () => unknown): Promise<unknown> {
  let tries = 0;
  return task.step(
    'outer',
    async () => {
      const done = await work();
      if (++tries < 3) throw new Error('busy');
      return done ?? null;
    },
    { retry },
  );
}

describe('another try of a step may use again', () => {
  test('a step, whose work is not done again, and a map of steps', async () => {
    const done: string[] = [];
    const tool = toolOf((task) =>
      thirdTime(task, async () => {
        await task.step('inner', () => void done.push('inner'));
        await task.step('around', () => task.step('deep', () => void done.push('deep')));
        await task.map('item', ['a', 'b'], (item) => void done.push(item));
        return 'done';
      }),
    );
    expect((await runTool(tool, {})).result).toBe('done');
    expect(done).toEqual(['inner', 'deep', 'a', 'b']);
  });

  test('a file, which is stored once', async () => {
    let made = 0;
    const tool = toolOf((task) => thirdTime(task, () => task.file('a', () => `${++made}`)));
    const { files } = await runTool(tool, {});
    expect([Object.keys(files), made]).toEqual([['a'], 1]);
  });

  test('a link, a webhook, a sleep and a poll', async () => {
    const { next } = waitingTask((task) =>
      thirdTime(task, async () => {
        await task.link('yes', elicitForm('Yes?', {}), { within: DAY });
        await task.webhook('hook', { within: DAY });
        await task.sleep('nap', { seconds: 1 });
        return task.until('poll', () => 'found', { every: { seconds: 1 }, within: DAY });
      }),
    );
    const signals = { url: 'https://mcp.example/signals', key: 'k' };
    expect(await next({}, { signals })).toEqual({ result: 'found' });
  });

  test('what an inner step has used that failed', async () => {
    let tries = 0;
    const tool = toolOf((task) =>
      task.step(
        'outer',
        () =>
          task.step('inner', async () => {
            const link = await task.file('a', 'x');
            if (++tries < 3) throw new Error('busy');
            return link.name;
          }),
        { retry },
      ),
    );
    expect((await runTool(tool, {})).result).toBe('a');
  });
});

test('the check of a poll finds what its steps have done', async () => {
  const done: number[] = [];
  const { next } = waitingTask(async (task) => {
    const check = async () => {
      const job = await task.step('start', () => done.push(1));
      await task.file('log.txt', 'x');
      return done.push(job) > 3 && done;
    };
    return task.until('job', check, { every: { seconds: 2 }, within: DAY });
  });
  expect(await next()).toEqual({ result: [1, 1, 1, 1] });
});

describe('a name still comes once', () => {
  test('in one try, and outside of the step', async () => {
    const twice = toolOf((task) =>
      thirdTime(task, async () => [await task.step('a', () => 1), await task.step('a', () => 2)]),
    );
    await expect(runTool(twice, {})).rejects.toThrow("Step 'a' comes twice in one run: give each its own name");
    const before = toolOf(async (task) => {
      await task.step('a', () => 1);
      return thirdTime(task, () => task.step('a', () => 2));
    });
    await expect(runTool(before, {})).rejects.toThrow("Step 'a' comes twice");
    const after = toolOf(async (task) => {
      await thirdTime(task, () => task.step('a', () => 1));
      return task.step('a', () => 2);
    });
    await expect(runTool(after, {})).rejects.toThrow("Step 'a' comes twice");
  });

  test('while a failed try has left its work under way: it is not done twice at the same time', async () => {
    let begun = 0;
    const slow = Promise.withResolvers<void>();
    const tool = toolOf((task) =>
      task.step(
        'outer',
        async () => {
          const paid = task.step('pay', () => {
            begun++;
            return slow.promise;
          });
          const failed = Promise.withResolvers<never>();
          setImmediate(() => failed.reject(new Error('busy')));
          await Promise.race([paid, failed.promise]);
        },
        { retry },
      ),
    );
    const running = runTool(tool, {});
    await expect(running).rejects.toThrow("Step 'pay' comes twice in one run");
    slow.resolve();
    expect(begun).toBe(1);
  });
});
