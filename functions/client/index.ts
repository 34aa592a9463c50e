/**
 * The functions for programs that call tools.
 *
 * @module mcp-task-server/client
 */
import { isModern, type KnownClient } from './clients.ts';
import type { CallOptions, OfficialClient, TaskOptions, ToolResult } from './options.ts';

export type { Answer, CallOptions, OfficialClient, Progress, Question, TaskOptions, ToolResult } from './options.ts';

/**
 * Calls a tool and waits for its result, for hours if need be: as a task if the tool can run as one, in the revision that
 * the client speaks.
 *
 * @throws the error of the server or the task, with its JSON-RPC `code`; the signal's reason; an error of `onQuestion`
 *
 * @example
 * const onProgress = ({ message }) => console.log(message);
 * const result = await callTask(client, 'split_bill', { total: 100 }, { onProgress });
 */
export async function callTask(
  client: OfficialClient,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<ToolResult> {
  const known = client as KnownClient;
  // Only the code of this revision is loaded.
  if (isModern(known)) return (await modern()).callTask(known, name, args, options);
  return (await import('./legacy.ts')).callTask(known, name, args, options);
}

/**
 * Continues a task that another client, or an earlier run of this program, has started. Otherwise works like `callTask`.
 *
 * @example
 * const result = await resumeTask(client, await readFile('task.txt', 'utf8'));
 */
export async function resumeTask(
  client: OfficialClient,
  taskId: string,
  options: TaskOptions = {},
): Promise<ToolResult> {
  const known = client as KnownClient;
  if (isModern(known)) return (await modern()).resumeTask(known, taskId, options);
  return (await import('./legacy.ts')).resumeTask(known, taskId, options);
}

/** What Node calls an error of `import`, and of `require`, for a package that is not installed. */
const NOT_INSTALLED: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/** Loads the tasks package, which is an optional peer, and then the code that needs it. */
async function modern(): Promise<typeof import('./modern.ts')> {
  // Stryker disable all: only a program without the package notices (test/functions/client/optional-peer.test.ts).
  try {
    await import('@modelcontextprotocol/ext-tasks/client');
  } catch (error) {
    if (!NOT_INSTALLED.includes((error as { code?: unknown }).code)) throw error;
    const message = 'Tasks of @modelcontextprotocol/client need: npm install @modelcontextprotocol/ext-tasks';
    throw new Error(message, { cause: error });
  }
  // Stryker restore all
  return import('./modern.ts');
}
