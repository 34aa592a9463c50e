import type { Client as Client2 } from '@modelcontextprotocol/client';
import type { CallOptions, OfficialClient, TaskOptions, ToolResult } from './options.ts';

export type { Answer, CallOptions, OfficialClient, Progress, Question, TaskOptions, ToolResult } from './options.ts';

/**
 * Calls a tool and waits for its result, however long that takes: as a task where the tool can be one, in the revision
 * that the client speaks.
 *
 * @throws what the server or the task failed with, a JSON-RPC `code` in it; the signal's reason; what `onQuestion` throws
 *
 * @example
 * const result = await callTask(client, 'split_bill', { total: 100 }, { onProgress: ({ message }) => console.log(message) });
 */
export async function callTask(
  client: OfficialClient,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<ToolResult> {
  if (isModern(client)) return (await import('./modern.ts')).callTask(client, name, args, options);
  return (await import('./legacy.ts')).callTask(client, name, args, options);
}

/** Goes on with a task that another client, or this program before it ended, has started. As `callTask` otherwise. */
export async function resumeTask(
  client: OfficialClient,
  taskId: string,
  options: TaskOptions = {},
): Promise<ToolResult> {
  if (isModern(client)) return (await import('./modern.ts')).resumeTask(client, taskId, options);
  return (await import('./legacy.ts')).resumeTask(client, taskId, options);
}

/** Whether the connection speaks 2026-07-28. Loads only what that revision needs. */
function isModern(client: OfficialClient): client is Client2 {
  return 'getProtocolEra' in client && client.getProtocolEra() === 'modern';
}
