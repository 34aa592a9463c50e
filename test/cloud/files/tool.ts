import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from 'mcp-task-server/tool';

const integer = { type: 'integer' } as const;
const properties = { text: { type: 'string' }, times: integer, more: integer, waits: { type: 'boolean' } } as const;
const inputSchema = { type: 'object', properties } as const;

/** Stores a text as a file, and some more files, shows it, and perhaps waits until it is cancelled. */
export const handler = defineTool(
  { description: 'Stores a text', inputSchema, taskSupport: 'required', files: true },
  async ({ text = '', times = 1, more = 0, waits = false }, task) => {
    const file = await task.file('Zeilen “eins”.txt', text.repeat(times), { contentType: 'text/plain; charset=utf-8' });
    for (let n = 0; n < more; n++) await task.file(`${n}.txt`, `${n}`);
    await task.progress('Stored');
    await task.preview(file);
    while (waits) await sleep(100, undefined, { signal: task.signal });
    return { content: [file], structuredContent: { file: file.uri } };
  },
);
