import { defineTool } from '../../../functions/tool/index.ts';

/** Breaks off after the first parts of a file. */
async function* broken() {
  for (let parts = 0; parts < 3; parts++) yield Buffer.alloc(5_000_000);
  throw new Error('broken');
}

/** Stores a file, after an upload that fails. */
export const handler = defineTool(
  { description: 'Stores a file', inputSchema: { type: 'object' }, taskSupport: 'required', files: true },
  async (_args, task) => {
    await task.file('broken.txt', broken()).catch(() => {});
    return { content: [await task.file('whole.txt', 'x')] };
  },
);
