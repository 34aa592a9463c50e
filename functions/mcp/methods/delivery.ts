import { InternalError, InvalidParams } from '../../tasks/errors.ts';
import { newTaskKey } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { RpcError, TaskRecord } from '../../tasks/record.ts';
import { asOf, cancel, create, createRefused, fail, isTerminal } from '../../tasks/transitions.ts';
import { roundInput } from '../../tasks/workflow.ts';
import type { ToolEvent, ToolResult } from '../../tool/contract.ts';
import { isObject, type Params } from '../jsonrpc.ts';
import type { ToolEntry } from '../manifest.ts';
import type { Call, Server } from '../server.ts';
import { view } from '../task-view.ts';
import { errorResult, toolResult } from '../wire/tool-result.ts';

/** One execution path, several ways to hand the result over (design section 7). */

/** forbidden: the function is invoked here and now, and nothing is stored. */
export async function callDirectly(call: Call, server: Server, tool: ToolEntry, args: { value: Params }) {
  const event: ToolEvent = { name: tool.name, arguments: args.value, inputResponses: {}, requestState: null };
  const outcome = await server.invoke(tool, JSON.stringify(event));
  if ('error' in outcome) throw new InternalError('The tool failed', { reason: outcome.error });
  const value: unknown = JSON.parse(outcome.text);
  if (isObject(value) && 'inputRequests' in value) {
    throw new InternalError('The tool asked for input, which this server can only deliver to a task so far');
  }
  return call.wire.toolResult(toolResult(outcome.text));
}

/** The caller asked for a task: durable before it is answered (C-12, E-09). */
export async function createTask(call: Call, server: Server, tool: ToolEntry, args: string): Promise<object> {
  return call.wire.taskCreated(view(await startTask(call, server, tool, args), server));
}

/** A task was asked for with arguments the tool refuses: a task that has failed already (A-14, C-07). */
export async function createRefusedTask(call: Call, server: Server, tool: ToolEntry, refused: ToolResult) {
  const record = createRefused(newRecord(call, server, tool), JSON.stringify(refused));
  if (!(await server.store.create(record))) throw new InternalError();
  return call.wire.taskCreated(view(record, server));
}

/** The caller asked for none: runs as a task all the same, and waits for it as long as the inline window is open. */
export async function callInline(call: Call, server: Server, tool: ToolEntry, args: string): Promise<object> {
  const started = await startTask(call, server, tool, args);
  const closesAt = server.now() + limits.inlineWindow;
  for (let pause = 50; ; pause = Math.min(pause * 1.5, 1_000)) {
    const now = server.now();
    const record = asOf((await server.store.get(started)) ?? started, now) ?? started;
    if (isTerminal(record.status)) return call.wire.toolResult(terminalResult(record));
    if (record.status === 'input_required') {
      await server.store.apply(started, cancel(now));
      throw new InternalError('The tool asked for input, which this server can only deliver to a task so far');
    }
    if (now >= closesAt) {
      const text = `Tool ${tool.name} is still running as task ${record.taskId}. Ask for it with tasks/get.`;
      return call.wire.toolResult(errorResult(text));
    }
    await server.sleep(Math.min(pause, closesAt - now));
  }
}

/** What the call itself would have returned (C-16): the result, or the error that ended the work. */
export function terminalResult(record: TaskRecord): ToolResult {
  if (record.status === 'completed') return toolResult(record.result ?? 'null');
  if (record.status === 'cancelled') throw new InternalError('Task was cancelled');
  const error = JSON.parse(record.error ?? '{}') as Partial<RpcError>;
  throw new InternalError(error.message ?? 'The tool failed', error.data);
}

async function startTask(call: Call, server: Server, tool: ToolEntry, args: string): Promise<TaskRecord> {
  const record = newRecord(call, server, tool);
  const input = roundInput(record, args);
  if (Buffer.byteLength(input) > limits.executionInput) {
    throw new InvalidParams('arguments are too large once they are escaped: a task carries 256 KiB at most');
  }
  if (!(await server.store.create(record))) throw new InternalError();
  try {
    await server.workflow.start(record, tool.machine ?? '', input);
  } catch (error) {
    // Only a definite refusal may fail the task: after a timeout it may be running (crash table, rows 2 and 3).
    if (isRefusal(error)) {
      await server.store.apply(
        record,
        fail({ code: -32603, message: 'The task could not be started' }, server.now(), 1),
      );
    }
    console.error(JSON.stringify({ event: 'start_failed', tool: tool.name, error: String((error as Error).name) }));
    throw new InternalError('The task could not be started: try again later');
  }
  return record;
}

function newRecord({ params, accepts, principal, wire }: Call, server: Server, tool: ToolEntry): TaskRecord {
  const requested = wire.era === 'legacy' && isObject(params.task) ? params.task.ttl : undefined;
  const ttl = requested ?? tool.ttl ?? limits.ttl.default;
  if (typeof ttl !== 'number' || !Number.isFinite(ttl) || ttl < 0)
    throw new InvalidParams('task.ttl is a number of ms');
  const now = server.now();
  return create(
    newTaskKey(principal, now),
    {
      tool: tool.name,
      ttl: Math.round(Math.min(Math.max(ttl, limits.ttl.min), server.manifest.maxTtl)),
      timeout: tool.timeout,
      accepts,
    },
    now,
  );
}

function isRefusal(error: unknown): boolean {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0;
  return status >= 400 && status < 500;
}
