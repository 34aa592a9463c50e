import { defineTool } from 'mcp-task-server/tool';

export const handler = defineTool(
  {
    description: 'Counts the words of a text, and how often each one occurs',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    taskSupport: 'optional',
  },
  async ({ text }, task) => {
    const words = text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
    await task.progress(`Counting ${words.length} words`);
    const counts: Record<string, number> = {};
    for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
    return { total: words.length, counts };
  },
);
