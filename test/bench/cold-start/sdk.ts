import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { calls } from './clients.ts';
import { answered, type HttpEvent } from './lambda.ts';

const { create, poll } = calls();

/** The official SDK's server with the AWS clients. It has no tasks: one tool creates, another one polls. */
const mcp = createMcpHandler(() => {
  const server = new McpServer({ name: 's', version: '1' });
  const answer = (content: object) => ({
    content: [{ type: 'text' as const, text: '' }],
    structuredContent: { ...content },
  });
  const none = fromJsonSchema<object>({ type: 'object' });
  const task = fromJsonSchema<{ taskId: string }>({ type: 'object', properties: { taskId: { type: 'string' } } });
  server.registerTool('t', { description: 'd', inputSchema: none }, async () => answer(await create()));
  server.registerTool('poll', { description: 'd', inputSchema: task }, async ({ taskId }) =>
    answer(await poll(taskId)),
  );
  return server;
});

export const handler = answered(async ({ body, multiValueHeaders }: HttpEvent) => {
  const headers = Object.entries(multiValueHeaders).map(
    ([name, values]) => [name, values.join(', ')] as [string, string],
  );
  const response = await mcp.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
  return response.text();
});
