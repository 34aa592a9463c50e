import { setBounded } from '../../tasks/bounded-map.ts';
import { asOf, unaskable } from '../../tasks/deadlines.ts';
import { MissingClientCapability, TaskNotFound } from '../../tasks/errors.ts';
import { listPartition, type Principal, taskKey } from '../../tasks/ids.ts';
import { logEvent } from '../../tasks/log.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import { storedResult } from '../../tasks/results/result-ref.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import type { Call, ServerContext, Tool } from '../context.ts';
import { checkScopes } from '../identity/tool-scopes.ts';
import type { Validator } from '../manifest.ts';
import { TASKS_CAPABILITY } from '../protocol/capabilities.ts';
import { pollInterval } from '../wire/poll-interval.ts';
import { errorResult, toolResult } from '../wire/tool-result.ts';
import type { TaskView } from '../wire/wire.ts';

/** The task of `params.taskId`, if this request may see it. */
export async function loadTask(
  { params, principal, tasks }: Call,
  server: ServerContext,
  more?: { readonly report: true },
): Promise<TaskRecord> {
  const record = await findTask(principal, params.taskId, server, more);
  // A 2026-07-28 request that declares only the older capability reaches only tasks of the older revision (F-04).
  if (!tasks && record.legacy !== true) {
    throw new MissingClientCapability('This task is for clients that know tasks', TASKS_CAPABILITY);
  }
  return record;
}

/**
 * The caller's task as of now. Unknown, foreign and expired tasks give the same error (C-28, E-15). A token that does
 * not allow the task's tool does not allow the task.
 */
export async function findTask(
  principal: Principal,
  taskId: unknown,
  server: ServerContext,
  more?: { readonly report: true },
): Promise<TaskRecord> {
  const key = taskKey(principal, taskId);
  const readAt = server.now();
  const stored = key === undefined ? undefined : await server.store.get(key, more);
  const record = stored === undefined ? undefined : currentRecord(stored, readAt, server);
  if (record === undefined) throw notFound(principal, taskId, server);
  checkScopes(principal, record, server);
  if (stored !== undefined && record.status === 'failed') await storeUnaskable(stored, server);
  return record;
}

/** Stores the failure of a task with invalid questions, so that every release sees the same. */
async function storeUnaskable(stored: TaskRecord, { store }: ServerContext): Promise<void> {
  const change = stored.status === 'input_required' ? unaskable(stored) : undefined;
  // Best effort: readers see the failure without it.
  if (change !== undefined) await store.applyBlind(stored, change).catch(() => undefined);
}

/** The error for an unknown, foreign or expired task. The server cannot know which. */
export function notFound(principal: Principal, taskId: unknown, { audit }: ServerContext): TaskNotFound {
  const id = taskKey(principal, taskId)?.taskId;
  audit('denied', { owner: listPartition(principal), taskId: id, reason: 'not_found' });
  return new TaskNotFound();
}

/** One line for all tasks of a request that are unknown, foreign or expired. */
export function auditMissing(principal: Principal, missing: readonly TaskKey[], { audit }: ServerContext): void {
  const [first, ...more] = missing;
  const tasks = more.length === 0 ? {} : { tasks: missing.length };
  audit('denied', { owner: listPartition(principal), taskId: first?.taskId, ...tasks, reason: 'not_found' });
}

/**
 * A stored record as every reader sees it. Undefined if it has expired. A result that does not fit the tool's
 * outputSchema becomes an error result here: all readers see the same.
 *
 * @param readAt when the read was sent, in ms since the epoch. By the time of its answer the deadline may have passed,
 *   and a result may have been written since.
 */
export function currentRecord(stored: TaskRecord, readAt: number, server: ServerContext): TaskRecord | undefined {
  const record = asOf(stored, readAt);
  if (record?.result === undefined) return record;
  // A result in S3 is checked when it is shown (`withResult`).
  return storedResult(record.result) === undefined ? withCheckedResult(record, server) : record;
}

/**
 * A completed record whose result is checked: a result that does not fit the tool's outputSchema becomes an error
 * result. The schema is the one that held when the task was created: a deployment must not change what readers
 * see.
 */
export function withCheckedResult(record: TaskRecord, server: ServerContext): TaskRecord {
  if (record.status !== 'completed' || record.result === undefined) return record;
  const returned = toolResult(record.result);
  // The result's text decides, not the envelope around it.
  if (returned.isError === true && record.isError === true) return record;
  const result = checkedResult(returned, schemaToolOf(record, server));
  if (result.isError === true) return { ...record, isError: true, result: JSON.stringify(result) };
  return record.isError === true ? { ...record, isError: false } : record;
}

/** The tool, if its outputSchema is the one that held when the task was created. */
export function schemaToolOf({ tool, outputSchemaId }: TaskRecord, server: ServerContext): Tool | undefined {
  const judge = server.tools.get(tool);
  return judge?.entry.outputSchemaId === outputSchemaId ? judge : undefined;
}

/** The result, or an error result if it does not fit the tool's outputSchema. */
export function checkedResult(result: ToolResult, tool: Tool | undefined): ToolResult {
  const validate = tool?.validateOutput;
  if (validate === undefined || result.isError === true || validate(result.structuredContent)) return result;
  logMisfit(tool?.entry.name ?? '', validate);
  return errorResult(`Tool ${tool?.entry.name} returned structured content that does not fit its outputSchema`);
}

/** What is logged already: every reader checks the result again. */
const misfits = new Map<string, true>();

/** For the author of the tool: where its result does not fit, and which rule of the schema it breaks. Never a value. */
function logMisfit(tool: string, { errors }: Validator): void {
  const problems = (errors ?? []).slice(0, 5).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  const mark = `${tool} ${problems.join()}`;
  if (misfits.has(mark)) return;
  setBounded(misfits, mark, true, 100);
  logEvent('result_misfit', { tool, problems }, 'warn');
}

export function view(record: TaskRecord, server: ServerContext): TaskView {
  return { record, pollInterval: pollInterval(record, server.tools.get(record.tool)?.entry, server.now()) };
}
