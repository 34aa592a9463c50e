import { setTimeout as sleep } from 'node:timers/promises';
import { type Duration, defineTool, elicitForm, elicitUrl, type Task } from '../../../functions/tool/index.ts';

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
  async buy(task, { text }) {
    const question = elicitForm(String(text), { ok: { type: 'boolean' } });
    const approval = await task.link('approval', question, { within: { days: 3 } });
    const body = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
    const paid = await task.webhook('paid/€', { within: { days: 1 }, schema: body });
    const [{ open }, answer, payment] = await Promise.all([
      task.requireInput({ open: elicitUrl(`Please approve, then pay by ${paid.url}`, approval.url) }),
      approval.answer(),
      paid.received(),
    ]);
    const ready = await task.until('ready', () => task.round > 2 && { at: task.round }, {
      every: { minutes: 5 },
      within: { hours: 1 },
    });
    return { open: open.action, answer, payment, ready };
  },
};

export const handler = defineTool(
  { description: 'Does what a test says', inputSchema: { type: 'object' } },
  (args, task) => acts[(args as { do: string }).do]?.(task, args as Args) ?? null,
);
