import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** One tool that answers at once, on the in-memory tasks of the official SDK (2025-11-25): node sdk.ts PORT */
const taskStore = new InMemoryTaskStore();
const sessions = new Map<string, StreamableHTTPServerTransport>();
const CONTENT = { content: [{ type: 'text' as const, text: 'done' }] };

function server(): McpServer {
  const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
  const mcp = new McpServer({ name: 'short', version: '1' }, { capabilities, taskStore });
  mcp.experimental.tasks.registerToolTask(
    'short',
    { description: 'Answers at once', execution: { taskSupport: 'required' } },
    {
      async createTask({ taskStore: store }) {
        const task = await store.createTask({ ttl: 60_000 });
        setImmediate(() => void store.storeTaskResult(task.taskId, 'completed', CONTENT));
        return { task };
      },
      getTask: ({ taskId, taskStore: store }) => store.getTask(taskId),
      getTaskResult: async ({ taskId, taskStore: store }) => (await store.getTaskResult(taskId)) as typeof CONTENT,
    },
  );
  return mcp;
}

createServer(async (request, response) => {
  const known = sessions.get(String(request.headers['mcp-session-id']));
  if (known !== undefined) return known.handleRequest(request, response);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await server().connect(transport as Parameters<McpServer['connect']>[0]);
  return transport.handleRequest(request, response);
}).listen(Number(process.argv[2]), '127.0.0.1');
