import { expect, test } from 'vitest';
import type { Task } from '../../../functions/tool/index.ts';
import { playRandomTool } from './random-tools.ts';

const SEEDS = Number(process.env.RANDOM_TOOLS ?? 300);

async function problemsOf(plant?: (task: Task) => Task): Promise<string[]> {
  const found: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    for (const problem of await playRandomTool(seed, plant)) found.push(`seed ${seed}: ${problem}`);
  }
  return found;
}

test(`${SEEDS} random tools without a crash do each step once, and take one way of each race`, async () => {
  expect(await problemsOf()).toEqual([]);
});

test('a tool whose later rounds do not find its steps is noticed', async () => {
  const forgets = (task: Task): Task => ({
    ...task,
    step: (name, work, options) => task.step(`${name} ${task.round % 2}`, work, options),
  });
  expect((await problemsOf(forgets)).join()).toMatch(/done 2 times/);
});

test('and one that goes on late after a wait, so that a race takes another way', async () => {
  const late = (task: Task): Task => ({
    ...task,
    async webhook(name: string, options: never) {
      const webhook = await task.webhook(name, options);
      const received = async () => {
        const got = await webhook.received();
        for (let turns = 5 * (task.round % 3); turns > 0; turns--) await new Promise((next) => setImmediate(next));
        return got;
      };
      return { ...webhook, received } as never;
    },
  });
  expect((await problemsOf(late)).join()).toMatch(/both ways/);
});
