import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Signal } from '../../../../functions/tasks/tool-contract.ts';
import { elicitForm, type Task } from '../../../../functions/tool/index.ts';
import { DAY, fakeTimers, MINUTE, SECOND, waitingTask } from './support.ts';

const onServer = { signals: { url: 'https://mcp.example/signals', key: 'k' } };
const ask = elicitForm('Ship it?', { ok: { type: 'boolean' } });
const yes: Signal = { action: 'accept', content: { ok: true }, at: 5 };
const turns = async (count = 50) => {
  for (let n = 0; n < count; n++) await turn();
};

/** Does a step that is named after the winner of a race, and then sleeps for a night. */
async function settled(task: Task, first: string, effects: string[]): Promise<string> {
  await task.step(`effect of ${first}`, () => void effects.push(first));
  await task.sleep('night', { hours: 8 });
  return first;
}

test('a step that awaits an open wait itself comes after the wait that was over before it', async () => {
  const effects: string[] = [];
  const { next, clock } = waitingTask(async (task) => {
    const asks = task.map('ask', ['ann'], async (name) => {
      const link = await task.link(name, ask, { within: { days: 3 } });
      return (await link.answer()).action;
    });
    const first = await Promise.race([asks.then(() => 'answers'), task.sleep('late', { hours: 1 }).then(() => 'late')]);
    return settled(task, first, effects);
  });
  await next({}, onServer);
  clock.time += 60 * MINUTE;
  await next({}, onServer);
  const signals = { ann: yes };
  await next({ signals }, onServer);
  clock.time += DAY;
  expect([await next({ signals }, onServer), effects]).toEqual([{ result: 'late' }, ['late']]);
});

test('a wait inside a step that is done keeps later runs from no other wait', async () => {
  fakeTimers();
  const gate = Promise.withResolvers<void>();
  const effects: string[] = [];
  const { next, clock } = waitingTask((task) =>
    Promise.all([
      task.step('inner', () => task.sleep('in it', { hours: 1 })),
      task.sleep('first', { hours: 2 }).then(() => task.step('long', () => gate.promise)),
      task.sleep('second', { hours: 2 }).then(() => task.step('effect', () => void effects.push('second'))),
    ]),
  );
  await next();
  clock.time += 60 * MINUTE;
  await next();
  clock.time += 60 * MINUTE;
  const third = next();
  await turns();
  expect(effects).toEqual([]);
  await vi.advanceTimersByTimeAsync(5 * SECOND);
  await turns();
  expect(effects).toEqual(['second']);
  gate.resolve();
  expect(await third).toHaveProperty('result');
});

test('each of 150 steps that are under way at a wait comes after it', async () => {
  fakeTimers();
  const gate = Promise.withResolvers<void>();
  const effects: string[] = [];
  const { next, clock } = waitingTask(async (task) => {
    const steps = Array.from({ length: 150 }, (_, n) => task.step(`${n}`, () => gate.promise));
    const first = await Promise.race([
      task.sleep('late', { seconds: 9 }).then(() => 'late'),
      ...steps.map((step, n) => step.then(() => `step ${n}`)),
    ]);
    return settled(task, first, effects);
  });
  const first = next();
  await turns(500);
  await vi.advanceTimersByTimeAsync(5 * SECOND);
  await turns(500);
  gate.resolve();
  await first;
  clock.time += DAY;
  expect([await next(), effects]).toEqual([{ result: 'late' }, ['late']]);
});

test('a round whose time is nearly over ends before it gets past a wait out of order', async () => {
  fakeTimers();
  const effects: string[] = [];
  const fails: (() => void)[] = [];
  const { next, clock } = waitingTask(async (task) => {
    const [ann, bob] = [
      await task.link('ann', ask, { within: { days: 1 } }),
      await task.link('bob', ask, { within: { days: 1 } }),
    ];
    const work = () => new Promise<never>((_, reject) => fails.push(() => reject(new Error('down'))));
    const ofBob = task
      .step('notify', work)
      .catch((error: Error) => {
        if (error.message !== 'down') throw error;
      })
      .then(() => bob.answer());
    const first = await Promise.race([ann.answer().then(() => 'ann'), ofBob.then(() => 'bob')]);
    return settled(task, first, effects);
  });
  const round = async (signals: Readonly<Record<string, Signal>>) => {
    clock.rest = 60 * SECOND;
    const ended = next({ signals }, onServer);
    await turns();
    return { ended, fail: fails.at(-1) };
  };
  for (const signals of [{}, { bob: yes }]) {
    const { ended, fail } = await round(signals);
    fail?.();
    await ended;
  }
  const signals = { bob: yes, ann: yes };
  const { ended, fail } = await round(signals);
  await vi.advanceTimersByTimeAsync(60 * SECOND);
  await turns();
  fail?.();
  expect(await ended).toMatchObject({ waits: { more: { kind: 'more' } } });
  clock.time += DAY;
  const last = await round(signals);
  last.fail?.();
  expect([await last.ended, effects]).toEqual([{ result: 'bob' }, ['bob']]);
});
