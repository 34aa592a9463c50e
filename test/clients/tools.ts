import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolEvent, ToolReturn } from '../../functions/tasks/tool-contract.ts';
import { defineTool, elicitForm } from '../../functions/tool/index.ts';

/** The result of `count`. */
export const COUNTED = 'counted to the end';

const count = defineTool(
  {
    description: 'Counts, one number a second',
    inputSchema: { type: 'object', properties: { to: { type: 'integer', minimum: 1 } }, required: ['to'] },
    taskSupport: 'required',
  },
  async ({ to }, task) => {
    for (let number = 1; number <= to; number++) {
      await task.progress(`number ${number} of ${to}`, { progress: number, total: to });
      await sleep(1_000);
    }
    return COUNTED;
  },
);

const split = defineTool(
  { description: 'Splits a bill, and asks twice', inputSchema: { type: 'object' }, taskSupport: 'required' },
  async (_args, task) => {
    const { people } = await task.requireInput({
      people: elicitForm('How many people?', { people: { type: 'integer', minimum: 1 } }),
    });
    const { tip } = await task.requireInput({ tip: elicitForm('How much tip?', { tip: { type: 'number' } }) });
    if (people.action !== 'accept' || tip.action !== 'accept') return 'Nobody answered';
    return `${people.content.people} people, ${tip.content.tip} percent`;
  },
);

/** Works until it is cancelled. */
const wait = defineTool(
  { description: 'Waits two minutes', inputSchema: { type: 'object' }, taskSupport: 'required' },
  async (_args, task) => {
    await sleep(120_000, undefined, { signal: task.signal });
    return 'waited';
  },
);

export const definitions = {
  count: count.definition,
  // The same tool for clients without tasks.
  count_inline: { ...count.definition, taskSupport: 'optional' },
  split: split.definition,
  wait: wait.definition,
} as const;

const tools: Record<string, (event: ToolEvent) => Promise<ToolReturn>> = { count, count_inline: count, split, wait };

export async function handler(event: ToolEvent): Promise<ToolReturn> {
  const tool = tools[event.name];
  if (tool === undefined) throw new Error(`There is no tool ${event.name}`);
  return tool(event);
}
