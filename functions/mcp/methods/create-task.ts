import { InternalError, InvalidParams } from '../../tasks/errors.ts';
import { newTaskKey } from '../../tasks/ids.ts';
import { wireKey } from '../../tasks/input.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { askFirst, create, createRefused, fail } from '../../tasks/transitions.ts';
import { roundInput } from '../../tasks/workflow.ts';
import type { ToolResult } from '../../tool/contract.ts';
import { stopWork } from '../cancel.ts';
import { isObject } from '../jsonrpc.ts';
import type { ToolEntry } from '../manifest.ts';
import type { Call, Server } from '../server.ts';
import { progressTokenOf } from '../stream/held-call.ts';
import { view } from '../task-view.ts';

/** Answers given before the task was made, by the tool's own names. */
export type FirstAnswers = Readonly<Record<string, unknown>>;

/** The caller asked for a task: durable before it is answered (C-12, E-09). */
export async function createTask(call: Call, server: Server, tool: ToolEntry, args: string, first?: FirstAnswers) {
  const record = await startTask(call, server, tool, args, first);
  return call.wire.taskCreated(view(record, server), immediateResponse(tool, record));
}

/** A task was asked for with arguments the tool refuses: a task that has failed already (A-14, C-07). */
export async function createRefusedTask(call: Call, server: Server, tool: ToolEntry, refused: ToolResult) {
  const record = createRefused(newRecord(call, server, tool), JSON.stringify(refused));
  await put(record, server);
  return call.wire.taskCreated(view(record, server), immediateResponse(tool, record));
}

/** The record, then its first round: the tool's run, or its questions if it asks first and nothing was answered yet. */
export async function startTask(call: Call, server: Server, tool: ToolEntry, args: string, first?: FirstAnswers) {
  const record = newRecord(call, server, tool, first);
  const input = roundInput(record, args);
  if (input === undefined) {
    throw new InvalidParams('arguments are too large once they are escaped: a task carries 256 KiB at most');
  }
  await put(record, server);
  if (tool.askFirst !== undefined && first === undefined) {
    const asked = JSON.stringify({ inputRequests: tool.askFirst });
    return (await server.store.apply(record, askFirst(record, asked, args, server.now()))) ?? record;
  }
  try {
    await server.workflow.start(record, tool.machine ?? '', input);
  } catch (error) {
    // It may run all the same, if only the answer was lost: fenced, so that nothing can come of it, and told to stop
    // (crash table, rows 2 and 3).
    console.error(JSON.stringify({ event: 'start_failed', tool: tool.name, error: String((error as Error).name) }));
    await server.store.apply(record, fail({ code: -32603, message: 'The task could not be started' }, server.now()));
    await stopWork(record, server);
    throw new InternalError('The task could not be started: try again later');
  }
  return record;
}

function newRecord(call: Call, server: Server, tool: ToolEntry, first: FirstAnswers = {}): TaskRecord {
  const { params, accepts, principal, wire } = call;
  const requested = wire.era === 'legacy' && isObject(params.task) ? params.task.ttl : undefined;
  const ttl = requested ?? tool.ttl ?? limits.ttl.default;
  if (typeof ttl !== 'number' || !Number.isFinite(ttl) || ttl < 0)
    throw new InvalidParams('task.ttl is a number of ms');
  const now = server.now();
  const progressToken = progressTokenOf(call);
  const task = {
    tool: tool.name,
    ttl: Math.round(Math.min(Math.max(ttl, limits.ttl.min), server.manifest.maxTtl)),
    timeout: tool.timeout,
    accepts,
    legacy: wire.era === 'legacy',
    ...(progressToken !== undefined && { progressToken }),
    inputResponses: Object.fromEntries(
      Object.entries(first).map(([name, value]) => [wireKey(0, name), JSON.stringify(value)]),
    ),
  };
  return create(newTaskKey(principal, now), task, now);
}

function immediateResponse(tool: ToolEntry, record: TaskRecord): string {
  return tool.immediateResponse ?? `Tool ${tool.name} is running as task ${record.taskId}. Its result comes later.`;
}

/** A record that is there already is this one: the SDK has repeated a put whose answer was lost. */
async function put(record: TaskRecord, server: Server): Promise<void> {
  if (!(await server.store.create(record)) && (await server.store.get(record)) === undefined) throw new InternalError();
}
