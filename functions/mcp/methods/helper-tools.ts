import { InvalidParams, NotSupportedByTool } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { STATUSES, type TaskRecord } from '../../tasks/record.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import { isTerminal } from '../../tasks/transitions/change.ts';
import type { Call, ServerContext } from '../context.ts';
import type { ToolEntry } from '../manifest.ts';
import { argumentsOf } from '../protocol/call-params.ts';
import { complete, countLarge, readTask, shown, view } from '../read/read.ts';
import { watch } from '../stream/held.ts';
import { errorResult, toolResult } from '../wire/tool-result.ts';
import { cancelTask } from './tasks-cancel.ts';

/** A tool of the server: the model of a client without tasks polls by it (docs/architecture/requests.md, "Delivery"). */
interface HelperTool {
  readonly entry: ToolEntry;
  readonly call: (call: Call, server: ServerContext) => Promise<object>;
}

const taskId = { type: 'string', description: 'The task, as the tool that is still running named it.' } as const;
const outputSchema = {
  type: 'object',
  properties: {
    taskId: { type: 'string' },
    status: { type: 'string', enum: STATUSES.filter((status) => status !== 'waiting') },
    message: { type: 'string', description: 'How far it is, or why it ended.' },
    retryAfterSeconds: { type: 'number', description: 'When to ask again, while it is not over.' },
    next: { type: 'string', description: 'What to do, while it is not over.' },
    result: {
      description: 'What the tool returned, once completed: its structured content, or else its text.',
      anyOf: ['object', 'array', 'string', 'number', 'boolean', 'null'].map((type) => ({ type })),
    },
  },
  required: ['taskId', 'status'],
} as const;

export const helperTools: ReadonlyMap<string, HelperTool> = new Map(
  [
    {
      entry: helperEntry('get_task_result', {
        title: 'Get the result of a task',
        description:
          'Gets the result of a tool call that is still running as a task. Call it with the taskId that the tool named; ' +
          'if the task is still working, call it again.',
        inputSchema: {
          type: 'object',
          properties: {
            taskId,
            waitSeconds: {
              type: 'number',
              minimum: 0,
              maximum: 20,
              description: 'How long to wait for it. Default 20.',
            },
          },
          required: ['taskId'],
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
      }),
      call: getTaskResult,
    },
    {
      entry: helperEntry('cancel_task', {
        title: 'Cancel a task',
        description: 'Cancels a tool call that is still running as a task. What it has done already stays done.',
        inputSchema: { type: 'object', properties: { taskId }, required: ['taskId'] },
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      }),
      call: async (call: Call, server: ServerContext) => {
        const { record, won } = await cancelTask(call.principal, argumentsOf(call).taskId, server);
        // It shows the result of a task that had ended. The cancel itself is never refused.
        if (!won) {
          server.pollLimit.countShown(record);
          await countLarge(call.principal, record, server);
        }
        return call.wire.toolResult(await report(record, server));
      },
    },
  ].map((tool) => [tool.entry.name, tool]),
);

async function getTaskResult(call: Call, server: ServerContext): Promise<object> {
  const { taskId: id, waitSeconds = limits.helperWait / 1_000 } = argumentsOf(call);
  if (typeof waitSeconds !== 'number' || !(waitSeconds >= 0 && waitSeconds <= limits.helperWait / 1_000)) {
    throw new InvalidParams(`waitSeconds is a number from 0 to ${limits.helperWait / 1_000}`);
  }
  const first = await readTask(call.principal, id, server, { polled: true });
  await countLarge(call.principal, first, server);
  const until = server.now() + waitSeconds * 1_000;
  for await (const record of watch(call.principal, first, until, server)) {
    // The caller has too many requests that wait: the current status is an answer, too.
    if (record === 'crowded') break;
    if (record === undefined || record === 'waiting' || shown(record).status === 'working') continue;
    return call.wire.toolResult(await report(record, server));
  }
  return call.wire.toolResult(await report(await readTask(call.principal, id, server, { report: true }), server));
}

/** Invalid arguments give an error result that the model can read, as for any tool (A-14, X-21). */
export async function callHelper(helper: HelperTool, call: Call, server: ServerContext): Promise<object> {
  if (call.wire.taskByParam && call.tasks && call.params.task !== undefined) {
    throw new NotSupportedByTool(`Tool ${helper.entry.name} cannot run as a task`);
  }
  argumentsOf(call);
  try {
    return await helper.call(call, server);
  } catch (error) {
    if (error instanceof InvalidParams) return call.wire.toolResult(errorResult(error.message));
    throw error;
  }
}

/** One shape for every status, so that a model can rely on it. The tool's content comes with it. */
async function report(found: TaskRecord, server: ServerContext): Promise<ToolResult> {
  const record = shown(await complete(found, { state: true, result: 'shown' }, server));
  const { taskId: id, status, statusMessage: message } = record;
  const over = isTerminal(status);
  const next = `Call get_task_result again with {"taskId":"${id}"}.`;
  const structured = {
    taskId: id,
    status,
    ...(message !== undefined && { message }),
    ...(!over && { retryAfterSeconds: view(record, server).pollInterval / 1_000, next }),
  };
  if (status === 'completed') {
    const { content, structuredContent, isError } = toolResult(record.result ?? 'null');
    // Many clients show their model only the structured content, so the text is in it, too.
    const result = structuredContent === undefined ? textOf(content) : structuredContent;
    const known = result === undefined ? structured : { ...structured, result };
    return { content, structuredContent: known, ...(isError === true && { isError }) };
  }
  const text = `Task ${id} is ${status}${message === undefined ? '' : `: ${message}`}.${over ? '' : ` ${next}`}`;
  return {
    content: [{ type: 'text', text }],
    structuredContent: structured,
    ...(status === 'failed' && { isError: true }),
  };
}

function textOf(content: ToolResult['content']): string | undefined {
  const texts = (content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}

function helperEntry(
  name: string,
  entry: Pick<ToolEntry, 'title' | 'description' | 'inputSchema' | 'annotations'>,
): ToolEntry {
  return { ...entry, name, outputSchema, taskSupport: 'forbidden', timeout: 0 };
}
