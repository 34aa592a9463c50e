import { setTimeout as sleep } from 'node:timers/promises';
import { type Duration, defineTool, elicitForm, type Task } from '../../../functions/tool/index.ts';

type Args = Readonly<Record<string, unknown>>;

/** What the tool does, by the argument `do`. */
const acts: Readonly<Record<string, (task: Task, args: Args) => Promise<object>>> = {
  async sleep(task, { time }) {
    if (task.round === 1) task.setVariable('before', 'the sleep');
    const begun = await task.step('begin', () => Date.now());
    const [, sure] = await Promise.all([
      task.sleep('night', time as Duration),
      task.accepts.length > 0 && task.requireInput({ sure: elicitForm('Really?', {}) }),
    ]);
    return { slept: Date.now() - begun, before: task.getVariable('before'), round: task.round, sure };
  },
  async map(task, { count, ms }) {
    const rounds = await task.map(
      'rounds',
      Array.from({ length: Number(count) }),
      async () => {
        await sleep(Number(ms));
        return task.round;
      },
      { concurrency: 2 },
    );
    return { rounds };
  },
};

export const handler = defineTool(
  { description: 'Does what a test says', inputSchema: { type: 'object' } },
  (args, task) => acts[(args as { do: string }).do]?.(task, args as Args) ?? null,
);
