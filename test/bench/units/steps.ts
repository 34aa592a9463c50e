import { defineTool } from '../../../functions/tool/index.ts';

const inputSchema = {
  type: 'object',
  properties: { steps: { type: 'integer' } },
  required: ['steps'],
} as const;

/** Works in steps, each of which returns a text of 100 bytes. */
export const handler = defineTool(
  { description: 'd', inputSchema, taskSupport: 'required' },
  async ({ steps }, task) => {
    await task.map('step', Array(steps).fill('x'), (letter: string) => letter.repeat(100), { concurrency: 20 });
    return { steps };
  },
);
