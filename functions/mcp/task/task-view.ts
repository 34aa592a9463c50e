import { asOf, unaskable } from '../../tasks/deadlines.ts';
import { MissingClientCapability, TaskNotFound } from '../../tasks/errors.ts';
import { listPartition, type Principal, taskKey } from '../../tasks/ids.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { storedResult } from '../../tasks/s3/result-ref.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import type { Call, Server, Tool } from '../context.ts';
import { checkScopes } from '../identity/caller.ts';
import { TASKS_CAPABILITY } from '../protocol/capabilities.ts';
import { errorResult, toolResult } from '../wire/tool-result.ts';
import type { TaskView } from '../wire/wire.ts';
import { pollInterval } from './poll-interval.ts';

/** How a task is read: `look` costs half a read unit more and comes with what its run has reported. */
type Read = 'get' | 'look';

/** The task of `params.taskId`, if this request may see it. */
export async function loadTask({ params, principal, tasks }: Call, server: Server, read?: Read): Promise<TaskRecord> {
  const record = await findTask(principal, params.taskId, server, read);
  // A 2026-07-28 request that declares only the older capability reaches only tasks of the older revision (F-04).
  if (!tasks && record.legacy !== true) {
    throw new MissingClientCapability('This task is for clients that know tasks', TASKS_CAPABILITY);
  }
  return record;
}

/**
 * The caller's task as of now; unknown, foreign and expired are the same (C-28, E-15). A token that is not
 * enough for the task's tool is not enough for the task.
 */
export async function findTask(
  principal: Principal,
  taskId: unknown,
  server: Server,
  read: Read = 'get',
): Promise<TaskRecord> {
  const key = taskKey(principal, taskId);
  const stored = key === undefined ? undefined : await server.store[read](key);
  const record = stored === undefined ? undefined : present(stored, server);
  if (record === undefined) throw notFound(principal, taskId, server);
  checkScopes(principal, record, server);
  if (stored !== undefined && record.status === 'failed') await keepVerdict(stored, server);
  return record;
}

/** Writes that a task cannot be asked what it asks, so that no other release judges that differently. */
async function keepVerdict(stored: TaskRecord, { store }: Server): Promise<void> {
  const change = stored.status === 'input_required' ? unaskable(stored) : undefined;
  // Readers judge the same without it.
  if (change !== undefined) await store.applyBlind(stored, change).catch(() => undefined);
}

/** For an id that is nobody's, somebody else's or no longer there: nothing of ours could tell which. */
export function notFound(principal: Principal, taskId: unknown, { audit }: Server): TaskNotFound {
  const id = taskKey(principal, taskId)?.taskId;
  audit('denied', { owner: listPartition(principal), taskId: id, reason: 'not_found' });
  return new TaskNotFound();
}

/**
 * A stored record as every reader must see it now. A result that does not fit the tool's outputSchema is an error of
 * the tool's: judged here, so that all readers agree.
 */
export function present(stored: TaskRecord, server: Server): TaskRecord | undefined {
  const record = asOf(stored, server.now());
  if (record !== undefined) server.seen(record);
  // A result that lies in S3 is judged when it is shown (`withResult`).
  if (record?.result === undefined || storedResult(record.result) !== undefined) return record;
  return judged(record, server);
}

/**
 * A record as its result makes it: one that breaks the tool's promise is an error of the tool's. The promise is
 * the one that held when the task was made: what readers were told must not change with a deployment.
 */
export function judged(record: TaskRecord, server: Server): TaskRecord {
  if (record.status !== 'completed' || record.result === undefined) return record;
  const returned = toolResult(record.result);
  // Its text decides, whatever the envelope around it said.
  if (returned.isError === true && record.isError === true) return record;
  const result = judgedResult(returned, judgeOf(record, server));
  if (result.isError === true) return { ...record, isError: true, result: JSON.stringify(result) };
  return record.isError === true ? { ...record, isError: false } : record;
}

/** The tool, if its outputSchema is the one that the result has to fit. */
export function judgeOf({ tool, outputSchemaId }: TaskRecord, server: Server): Tool | undefined {
  const judge = server.tools.get(tool);
  return judge?.entry.outputSchemaId === outputSchemaId ? judge : undefined;
}

/** The result, or in its place an error result when it breaks what the tool's outputSchema promises. */
export function judgedResult(result: ToolResult, tool: Tool | undefined): ToolResult {
  const validate = tool?.validateOutput;
  if (validate === undefined || result.isError === true || validate(result.structuredContent)) return result;
  return errorResult(`Tool ${tool?.entry.name} returned structured content that does not fit its outputSchema`);
}

export function view(record: TaskRecord, server: Server): TaskView {
  return { record, pollInterval: pollInterval(record, server.tools.get(record.tool)?.entry, server.now()) };
}
