import { setTimeout as sleep } from 'node:timers/promises';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { useCloud } from '../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;

async function v1Client(): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
  // The SDK's own transport types do not pass exactOptionalPropertyTypes.
  await client.connect(new StreamableHTTPClientTransport(new URL(url())) as Parameters<typeof client.connect>[0]);
  return client;
}

describe('the official v1 client, 2025-11-25', () => {
  test('creates a task, polls it, fetches its result with related-task metadata (C-07, C-14, C-17)', async () => {
    const client = await v1Client();
    const created = await client.request(
      { method: 'tools/call', params: { name: 'echo', arguments: { a: 1 }, task: { ttl: 60_000 } } },
      (await import('@modelcontextprotocol/sdk/types.js')).CreateTaskResultSchema,
    );
    const { taskId } = created.task;
    // A wish: the work alone may take longer.
    expect(created.task.status).toBe('working');
    expect(created.task.ttl).toBeGreaterThan(300_000);
    let task = await client.experimental.tasks.getTask(taskId);
    for (; task.status === 'working'; task = await client.experimental.tasks.getTask(taskId)) await sleep(50);
    expect(task.status).toBe('completed');
    const result = await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    expect(result).toMatchObject({
      structuredContent: { a: 1 },
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    });
    const { tasks } = await client.experimental.tasks.listTasks();
    expect(tasks.map((listed) => listed.taskId)).toEqual([taskId]);
    await client.close();
  });

  test('cancels a task, once (C-25, C-26)', async () => {
    const client = await v1Client();
    const stream = client.experimental.tasks.callToolStream(
      { name: 'sleep', arguments: { ms: 5_000 } },
      CallToolResultSchema,
      {
        task: {},
      },
    );
    const first = (await stream.next()).value;
    const taskId = first?.type === 'taskCreated' ? first.task.taskId : '';
    expect(await client.experimental.tasks.cancelTask(taskId)).toMatchObject({ taskId, status: 'cancelled' });
    await expect(client.experimental.tasks.cancelTask(taskId)).rejects.toThrow(/already cancelled/);
    await stream.return?.();
    await client.close();
  });
});

describe('the official client 2.x', () => {
  test.each(['auto', 'legacy'] as const)('connects and calls tools, mode %s', async (mode) => {
    const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new ModernTransport(new URL(url())));
    expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('direct_echo');
    const result = await client.callTool({ name: 'direct_echo', arguments: { a: 1 } });
    expect(result).toMatchObject({ structuredContent: { args: { a: 1 } } });
    expect(await client.callTool({ name: 'echo', arguments: { b: 2 } })).toMatchObject({ structuredContent: { b: 2 } });
    await client.close();
  });
});
