import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Signal } from '../../../../functions/tasks/tool-contract.ts';
import { elicitForm, type Task } from '../../../../functions/tool/index.ts';
import { DAY, fakeTimers, MINUTE, SECOND, waitingTask } from './support.ts';

const onServer = { signals: { url: 'https://mcp.example/signals', key: 'k' } };
const ask = elicitForm('Ship it?', { ok: { type: 'boolean' } });
const answered = (ok: boolean): Signal => ({ action: 'accept', content: { ok }, at: 5 });

/** What the winning branch does before its wait, which no later run finds in the journal at once. */
const WORK: Readonly<Record<string, (task: Task) => Promise<unknown>>> = {
  'a report': (task) => task.progress('Asking Bob, too'),
  'a file': (task) => task.file('a.txt', 'x'),
  'a step that fails': (task) => {
    const fails = () => pause(1).then(() => Promise.reject(new Error('down')));
    return task.step('note', fails).catch((error: Error) => {
      if (error.message !== 'down') throw error;
    });
  },
};

test.each(Object.entries(WORK))('a race ends the same with %s before the wait that won', async (_, work) => {
  const effects: string[] = [];
  const { next, clock, table } = waitingTask(async (task) => {
    const ann = await task.link('ann', ask, { within: { days: 1 } });
    const bob = task.sleep('an hour', { hours: 1 }).then(async () => {
      await work(task);
      return (await task.link('bob', ask, { within: { hours: 20 } })).answer();
    });
    const { content } = await Promise.race([ann.answer(), bob]);
    const effect = content?.ok ? 'ship' : 'cancel';
    await task.step(effect, () => void effects.push(effect));
    await task.sleep('cool', { minutes: 1 });
    return effect;
  });
  const { files } = table.context;
  const add: typeof files.add = (...args) => pause(5).then(() => files.add(...args));
  Object.assign(table.context, { progress: () => pause(5, true), files: { ...files, add } });
  const round = (signals: Readonly<Record<string, Signal>>) => next({ signals }, onServer);
  await round({});
  clock.time += 60 * MINUTE;
  await round({});
  await round({ bob: answered(true) });
  clock.time += MINUTE;
  expect(await round({ bob: answered(true), ann: answered(false) })).toEqual({ result: 'ship' });
  expect(effects).toEqual(['ship']);
});

/** Races an answer, and a step behind it, with a sleep that is over while that step works. */
function stepInBranch(work: () => Promise<unknown>) {
  const effects: string[] = [];
  const task = waitingTask(async (task) => {
    const link = await task.link('approval', ask, { within: { days: 3 } });
    const first = await Promise.race([
      link.answer().then(() => task.step('check the budget', work).then(() => 'answer')),
      task.sleep('late', { seconds: 20 }).then(() => 'late'),
    ]);
    await task.step(`effect of ${first}`, () => void effects.push(first));
    await task.sleep('night', { hours: 8 });
    return first;
  });
  const signals = { approval: answered(true) };
  return { ...task, effects, round: () => task.next({ signals }, onServer) };
}

describe('a race whose branch has a step behind its wait', () => {
  test('ends with that branch if its wait was over first', async () => {
    const { next, round, clock, effects } = stepInBranch(() => pause(20));
    await next({}, onServer);
    clock.time += 13 * SECOND;
    await round();
    clock.time += DAY;
    expect([await round(), effects]).toEqual([{ result: 'answer' }, ['answer']]);
  });

  test('ends with the other, in each run, if the step takes long', async () => {
    fakeTimers();
    const worked = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { next, round, clock, effects } = stepInBranch(() => {
      begun.resolve();
      return worked.promise;
    });
    await next({}, onServer);
    clock.time += 13 * SECOND;
    const second = round();
    await begun.promise;
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(effects).toEqual([]);
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(effects).toEqual(['late']);
    worked.resolve();
    await second;
    clock.time += DAY;
    // The step is done by now: its result is there at once.
    expect([await round(), effects]).toEqual([{ result: 'late' }, ['late']]);
  });
});

test('a race of a question with a link ends the same in each run', async () => {
  const effects: string[] = [];
  const { next, clock } = waitingTask(async (task) => {
    const link = await task.link('approval', ask, { within: { hours: 5 } });
    await task.sleep('some time', { minutes: 10 });
    const { sure } = await Promise.race([
      task.requireInput({ sure: ask }),
      link.answer().then(({ content }) => ({ sure: { content } })),
    ]);
    const effect = (sure as { content?: { ok?: unknown } }).content?.ok ? 'buy' : 'cancel';
    await task.step(effect, () => void effects.push(effect));
    await task.sleep('cool', { minutes: 1 });
    return effect;
  });
  await next({}, onServer);
  clock.time += 10 * MINUTE;
  const signals = { approval: answered(true) };
  expect(await next({ signals }, onServer)).toHaveProperty('inputRequests');
  const inputResponses = { sure: { action: 'accept', content: { ok: false } } } as const;
  await next({ signals, inputResponses }, onServer);
  clock.time += MINUTE;
  const ended = await next({ signals, inputResponses }, onServer);
  expect(effects).toEqual([ended.result]);
});

test('a race ends the same when a long step fails again before the wait that won', async () => {
  fakeTimers();
  const effects: string[] = [];
  const fails: (() => void)[] = [];
  const { next, clock } = waitingTask(async (task) => {
    const [ann, bob] = [
      await task.link('ann', ask, { within: { days: 1 } }),
      await task.link('bob', ask, { within: { days: 1 } }),
    ];
    const work = () => new Promise<never>((_, reject) => fails.push(() => reject(new Error('down'))));
    const ofBob = async () => {
      await task.step('notify', work).catch((error: Error) => {
        if (error.message !== 'down') throw error;
      });
      return bob.answer();
    };
    const { content } = await Promise.race([ann.answer(), ofBob()]);
    const effect = content?.ok ? 'ship' : 'cancel';
    await task.step(effect, () => void effects.push(effect));
    await task.sleep('cool', { hours: 1 });
    return effect;
  });
  const round = async (signals: Readonly<Record<string, Signal>>) => {
    const before = fails.length;
    const ended = next({ signals }, onServer);
    for (let turns = 0; turns < 50 && fails.length === before; turns++) await turn();
    await vi.advanceTimersByTimeAsync(10 * SECOND);
    for (let turns = 0; turns < 20; turns++) await turn();
    fails.at(-1)?.();
    return ended;
  };
  await round({});
  await round({ bob: answered(true) });
  clock.time += 60 * MINUTE;
  expect(await round({ bob: answered(true), ann: answered(false) })).toEqual({ result: 'ship' });
  expect(effects).toEqual(['ship']);
});

test('a step that was under way at a wait comes after it, whatever the other branch does first', async () => {
  fakeTimers();
  const worked = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const effects: string[] = [];
  const { next, clock, table } = waitingTask(async (task) => {
    const link = await task.link('approval', ask, { within: { days: 3 } });
    const check = () => {
      begun.resolve();
      return worked.promise;
    };
    const late = async () => {
      await task.sleep('first', { seconds: 20 });
      await task.progress('half');
      await task.sleep('late', { seconds: 5 });
      return 'late';
    };
    const first = await Promise.race([
      link.answer().then(() => task.step('check', check).then(() => 'answer')),
      late(),
    ]);
    await task.step(`effect of ${first}`, () => void effects.push(first));
    await task.sleep('night', { hours: 8 });
    return first;
  });
  const progress = async () => {
    for (let turns = 0; turns < 10; turns++) await turn();
    return true;
  };
  Object.assign(table.context, { progress });
  const round = () => next({ signals: { approval: answered(true) } }, onServer);
  await next({}, onServer);
  clock.time += 60 * SECOND;
  const second = round();
  await begun.promise;
  for (let holds = 0; holds < 3; holds++) {
    await vi.advanceTimersByTimeAsync(5 * SECOND);
    for (let turns = 0; turns < 50; turns++) await turn();
  }
  expect(effects).toEqual(['late']);
  worked.resolve();
  await second;
  clock.time += DAY;
  expect([await round(), effects]).toEqual([{ result: 'late' }, ['late']]);
});
