import { describe, expect, test } from 'vitest';
import { elicitForm, type Task } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';
import { toolOf } from '../journal/support.ts';
import { DAY, SECOND, time, waitingTask } from './support.ts';

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((next) => setImmediate(next));
};
const sure = { sure: elicitForm('Sure?', {}) };
const answers = { sure: { action: 'accept', content: {} } } as const;

/** What the work of a step goes on with, after its effect. */
const INNER: readonly [string, (task: Task) => unknown][] = [
  ['a step', (task) => task.step('receipt', () => 7)],
  ['a map', (task) => task.map('part', [1, 2, 3], (n) => n, { concurrency: 1 })],
  ['a file', (task) => task.file('receipt.txt', 'seven')],
  ['a short sleep', (task) => task.sleep('nap', { seconds: 1 })],
  ['a variable', (task) => task.setVariable('paid', true)],
];

describe('a step that is under way as the round ends is done once, also with', () => {
  test.each(INNER)('%s inside, where a question ends it', async (_what, inner) => {
    for (const atMostOnce of [false, true]) {
      const paid: number[] = [];
      const tool = toolOf(async (task) => {
        const pay = async () => {
          paid.push(1);
          await turns(20);
          await inner(task);
          return 'paid';
        };
        const [, done] = await Promise.all([task.requireInput(sure), task.step('pay', pay, { atMostOnce })]);
        return done;
      });
      expect((await runTool(tool, {}, { answers })).result).toBe('paid');
      expect(paid).toEqual([1]);
    }
  });

  test.each(INNER.slice(0, 3))('%s in the items of a map whose time is used up', async (_what, inner) => {
    const paid: number[] = [];
    const { next, clock } = waitingTask((task) =>
      task
        .map(
          'order',
          Array.from({ length: 30 }, (_, n) => n),
          async (n) => {
            await turns(n % 5);
            paid.push(n);
            clock.rest -= SECOND;
            await turns(2);
            // Each item has names of its own.
            const named = { ...task, step: (name, work) => task.step(`${name} ${n}`, work) } as Task;
            named.map = (name, ...rest) => task.map(`${name} ${n}`, ...rest);
            named.file = (name, body) => task.file(`${n} ${name}`, body);
            await inner(named);
            return n;
          },
        )
        .then((all) => all.length),
    );
    let rounds = 0;
    for (let ended: object = {}; !('result' in ended); rounds++) {
      clock.rest = 20 * SECOND;
      ended = await next();
    }
    expect(rounds).toBeGreaterThan(1);
    expect(paid.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  });
});

describe('as the round ends,', () => {
  test('nothing else begins: no step outside, and none in a step that has itself come to the end', async () => {
    const done: string[] = [];
    const { next } = waitingTask(async (task) => {
      const outside = async () => {
        await turns(20);
        await task.step('outside', () => done.push('outside'));
      };
      const asks = async () => {
        try {
          await task.sleep('night', { days: 1 });
        } finally {
          await task.step('release', () => done.push('release'));
        }
      };
      await Promise.all([task.requireInput(sure), outside(), task.step('asks', asks)]);
    });
    await next();
    await turns(40);
    expect(done).toEqual([]);
  });

  test('a run that fails stops its steps: its round is tried again', async () => {
    const begun: string[] = [];
    const { next } = waitingTask(async (task) => {
      const book = async (what: string) => {
        begun.push(what);
        await turns(10);
      };
      const books = task.step('books', async () => {
        for (const what of ['flight', 'hotel', 'car']) await task.step(what, () => book(what));
      });
      await task.requireInput(sure).catch(async (cause) => {
        await turns(2);
        throw new Error('No answer', { cause });
      });
      return books;
    });
    await expect(next()).rejects.toThrow('No answer');
    await turns(60);
    expect(begun).toEqual(['flight']);
  });

  test('a poll in a step does not keep it', async () => {
    let checks = 0;
    const { next } = waitingTask(async (task) => {
      const polls = async () => {
        await turns(20);
        return task.until('job', () => ++checks > 9, { every: { seconds: 2 }, within: { days: 1 } });
      };
      await Promise.all([task.sleep('night', { days: 1 }), task.requireInput(sure), task.step('polls', polls)]);
    });
    expect(await next()).toHaveProperty('inputRequests.sure');
    expect(checks).toBe(1);
  });

  test('a wait that a step has come to is one of the round', async () => {
    const { next, clock } = waitingTask((task) => task.step('waits', () => task.sleep('night', { days: 1 })));
    expect((await next()).waits).toEqual({ night: time(clock.time + DAY) });
  });
});
