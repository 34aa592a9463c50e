import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Signal } from '../../../../functions/tasks/tool-contract.ts';
import { elicitForm, type Task } from '../../../../functions/tool/index.ts';
import { runTool } from '../../../../functions/tool/testing.ts';
import { toolOf } from '../journal/support.ts';
import { DAY, MINUTE, NOON, SECOND, time, waitingTask } from './support.ts';

const onServer = { signals: { url: 'https://mcp.example/signals', key: 'k' } };
const ask = elicitForm('Buy it?', { ok: { type: 'boolean' } });
const within = { within: { days: 3 } };
const yes: Signal = { action: 'accept', content: { ok: true }, at: 5 };
const LINK = { kind: 'link', until: NOON + 3 * DAY } as const;

/** Waits for an answer, or for an hour, whichever comes first. Then it sleeps for a night, and returns what came first. */
const raced = async (task: Task, steps: string[] = []) => {
  const link = await task.link('approval', ask, within);
  const first = await Promise.race([
    link.answer().then(({ action }) => `answer ${action}`),
    task.sleep('an hour', { hours: 1 }).then(() => 'an hour'),
  ]);
  await task.step('note', () => void steps.push(first));
  await task.sleep('night', { hours: 8 });
  return first;
};

describe('a race of waits', () => {
  test('ends with the first: the code goes on while the other wait is open', async () => {
    const steps: string[] = [];
    const { next, clock } = waitingTask((task) => raced(task, steps));
    expect((await next({}, onServer)).waits).toEqual({ approval: LINK, 'an hour': time(NOON + 60 * MINUTE) });
    clock.time += 60 * MINUTE;
    const { waits } = await next({}, onServer);
    expect([steps, Object.keys(waits ?? {})]).toEqual([['an hour'], ['night', 'approval']]);
  });

  test('ends the same in every later run, whatever comes after it', async () => {
    const steps: string[] = [];
    const { next, clock } = waitingTask((task) => raced(task, steps));
    let requestState: unknown = null;
    const round = async (more: object = {}) => {
      const ended = (await next({ requestState, ...more }, onServer)) as { requestState?: unknown; result?: unknown };
      requestState = ended.requestState;
      return ended;
    };
    await round();
    clock.time += 60 * MINUTE;
    await round();
    // The answer comes in the night, after the race.
    await round({ signals: { approval: yes } });
    clock.time += DAY;
    expect(await round({ signals: { approval: yes } })).toEqual({ result: 'an hour' });
    expect(steps).toEqual(['an hour']);
  });

  test('ends with an answer that comes first', async () => {
    const { next } = waitingTask((task) => raced(task));
    await next({}, onServer);
    expect((await next({ signals: { approval: yes } }, onServer)).waits).toHaveProperty('night');
  });

  test('is played by runTool in the same way', async () => {
    const tool = toolOf((task) => raced(task));
    expect((await runTool(tool, {}, { signals: { approval: 'timeout' } })).result).toBe('an hour');
    const answered = await runTool(tool, {}, { signals: { approval: { action: 'decline' } } });
    expect(answered.result).toBe('answer decline');
  });
});

type Branch = (answer: () => Promise<{ readonly action?: string | undefined }>, task: Task) => Promise<string>;
const BRANCHES: Readonly<Record<string, Branch>> = {
  'one then': (answer) => answer().then(() => 'answer'),
  'a chain of then': (answer) =>
    answer()
      .then((given) => given)
      .then(() => 'answer'),
  'an async function': async (answer) => ((await answer()).action === 'accept' ? 'answer' : 'refusal'),
  'a step': (answer, task) => answer().then(() => task.step('read', () => 'answer')),
};

describe.each(Object.entries(BRANCHES))('a race whose branch is %s', (_name, branch) => {
  test.each([
    ['is tried again', 2],
    ['is not the last', 3],
  ])('ends the same if its round %s', async (_what, last) => {
    const effects: string[] = [];
    const late = Promise.withResolvers<void>();
    const { next, clock } = waitingTask(async (task) => {
      const link = await task.link('approval', ask, within);
      const answered = branch(link.answer, task);
      const first = await Promise.race([answered, task.sleep('late', { seconds: 20 }).then(() => 'late')]);
      await task.step(`effect of ${first}`, () => {
        effects.push(first);
        late.resolve();
        if (last === 2 && effects.length === 1) throw new Error('The run dies');
      });
      await task.sleep('night', { hours: 8 });
      return first;
    });
    // The sleep is over only when the other branch has its effect.
    clock.sleep = async (ms) => {
      await late.promise;
      clock.time += ms;
    };
    await next({}, onServer);
    clock.time += 13 * SECOND;
    const signals = { approval: yes };
    const second = next({ signals }, onServer);
    if (last === 2) await expect(second).rejects.toThrow('The run dies');
    else await second;
    clock.time += last === 2 ? 20 * SECOND : DAY;
    await next({ signals }, { ...onServer, round: last, attempt: 3 - last });
    clock.time += DAY;
    expect(await next({ signals }, { ...onServer, round: last + 1 })).toEqual({ result: 'answer' });
    expect(new Set(effects)).toEqual(new Set(['answer']));
  });
});

test('until checks at its own pace beside a longer wait', async () => {
  const checks: number[] = [];
  const { next, clock } = waitingTask(async (task) => {
    const check = () => checks.push((clock.time - NOON) / MINUTE) === 3 && 'ready';
    const times = { every: { minutes: 1 }, within: { hours: 5 } };
    const [found] = await Promise.all([task.until('ready', check, times), task.sleep('day', { days: 1 })]);
    return found;
  });
  for (const minute of [1, 2]) {
    expect((await next()).waits).toEqual({ ready: time(NOON + minute * MINUTE), day: time(NOON + DAY) });
    clock.time += MINUTE;
  }
  expect((await next()).waits).toEqual({ day: time(NOON + DAY) });
  clock.time = NOON + DAY;
  expect([await next(), checks]).toEqual([{ result: 'ready' }, [0, 1, 2]]);
});

describe('what a run does beside an open wait', () => {
  test('goes on: steps, a map and reports end before the round does', async () => {
    const done: string[] = [];
    const work = async (name: string) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      done.push(name);
    };
    const { next } = waitingTask((task) =>
      Promise.all([
        task.sleep('night', { hours: 8 }),
        task.map('list', ['a', 'b', 'c'], work, { concurrency: 1 }),
        task.progress('Half of it').then(() => task.step('after it', () => work('d'))),
      ]),
    );
    expect(Object.keys((await next()).waits ?? {})).toEqual(['night']);
    expect(done.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('asks the client at once', async () => {
    const done: string[] = [];
    const { next } = waitingTask((task) =>
      Promise.all([
        task.requireInput({ sure: ask }),
        task.map('list', ['a', 'b', 'c'], (name) => pause(5).then(() => void done.push(name)), { concurrency: 1 }),
      ]),
    );
    expect(await next()).toHaveProperty('inputRequests');
    expect(done.length).toBeLessThan(3);
  });

  test('ends where each item of a map has come to a wait of its own', async () => {
    const { next, clock } = waitingTask((task) =>
      task.map('nights', [1, 2, 3], (n) => task.sleep(`night ${n}`, { hours: n }).then(() => n), { concurrency: 2 }),
    );
    expect(Object.keys((await next()).waits ?? {})).toEqual(['night 1', 'night 2']);
    clock.time += 60 * MINUTE;
    expect(Object.keys((await next()).waits ?? {})).toEqual(['night 2', 'night 3']);
    clock.time += DAY;
    expect((await next()).result).toEqual([1, 2, 3]);
  });

  test('ends when the time of the function is nearly over, also in a step that awaits a wait', async () => {
    const { next, clock } = waitingTask(async (task) => {
      const night = task.sleep('night', { hours: 8 });
      return task.step('work', () => night.then(() => 'slept'));
    });
    clock.rest = 40;
    expect(Object.keys((await next()).waits ?? {})).toEqual(['night']);
    clock.time += DAY;
    expect(await next()).toEqual({ result: 'slept' });
  });
});

describe('what the tool does not await', () => {
  test('a wait is given up when the tool returns', async () => {
    const { next } = waitingTask(async (task) => {
      const link = await task.link('approval', ask, within);
      void link.answer();
      void task.sleep('night', { hours: 8 });
      await task.step('work', () => {});
      return 'done';
    });
    expect(await next({}, onServer)).toEqual({ result: 'done' });
  });

  test('until checks no more once the tool has returned', async () => {
    let checks = 0;
    const gate = Promise.withResolvers<void>();
    const { next, clock } = waitingTask(async (task) => {
      void task.until('ready', () => ++checks > 9 && 'ready', { every: { seconds: 1 }, within: { hours: 5 } });
      await task.sleep('a moment', { seconds: 2 });
      return 'done';
    });
    clock.sleep = async (ms) => {
      if (ms === SECOND) await gate.promise;
      clock.time += ms;
    };
    expect([await next({}, onServer), checks]).toEqual([{ result: 'done' }, 1]);
    gate.resolve();
    await pause(5);
    expect(checks).toBe(1);
  });

  test.each([false, true])('a question is asked all the same (with a step after it: %s)', async (works) => {
    const tool = toolOf(async (task) => {
      void task.requireInput({ sure: ask });
      if (works) await task.step('work', () => {});
      return 'done';
    });
    const answers = { sure: { action: 'accept', content: { ok: true } } } as const;
    expect(await runTool(tool, {}, { answers })).toMatchObject({ result: 'done', rounds: 2, asked: { sure: ask } });
  });

  test('the end of the round does not get past code that catches it', async () => {
    const { next } = waitingTask(async (task) => {
      await Promise.race([task.sleep('night', { hours: 8 })]).catch((error) => expect(error.name).toBe('RoundEnd'));
      return 'made without an answer';
    });
    expect(Object.keys((await next()).waits ?? {})).toEqual(['night']);
  });
});
