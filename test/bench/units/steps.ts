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
    for (let n = 0; n < steps; n++) await task.step(`step ${n}`, () => 'x'.repeat(100));
    return { steps };
  },
);
