import { withQuestions } from '../../engine/read.ts';
import { startIfCrashed } from '../../engine/resume.ts';
import { asOf, unaskable } from '../../tasks/deadlines.ts';
import { MissingClientCapability, TaskNotFound } from '../../tasks/errors.ts';
import { listPartition, type Principal, taskKey } from '../../tasks/ids.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskKey, TaskRecord } from '../../tasks/record.ts';
import { storedResult } from '../../tasks/results/result-ref.ts';
import { waitMessage } from '../../tasks/waits/waits.ts';
import type { ServerContext } from '../context.ts';
import { checkScopes, hasScopes } from '../identity/tool-scopes.ts';
import { TASKS_CAPABILITY } from '../protocol/capabilities.ts';
import { pollInterval } from '../wire/poll-interval.ts';
import type { TaskView } from '../wire/wire.ts';
import { withPreviewLink } from './links.ts';
import { withCheckedResult, withResult } from './results.ts';

/** What a reader needs of a task. Without any of it, one read of the record. */
export interface Needs {
  /** Counts the read as a poll. Throws TooManyPolls. */
  readonly polled?: true;
  /** The last report of its run: half a read unit more. */
  readonly report?: true;
  /** Refuses a task that a 2026-07-28 client has made: this one declares only the older capability (F-04). */
  readonly olderOnly?: boolean;
  /** Starts its round if the request that had to has crashed (docs/crash-table.md, row 16). */
  readonly restart?: boolean;
  /** The state of the state machine that does its work. */
  readonly state?: true;
  /** What it asks, also if that lies in S3. Throws Unavailable. */
  readonly questions?: boolean;
  /** `shown`: its result, also if that lies in S3. `status`: only whether the result is an error. */
  readonly result?: 'shown' | 'status';
}

/**
 * The caller's task as of now: the one way to read a task for a client, in the one order. Unknown, foreign and expired
 * tasks give the same error (C-28, E-15). A token that does not allow the task's tool does not allow the task. Nothing is
 * written, started or fetched for a caller who may not see it.
 */
export async function readTask(
  principal: Principal,
  taskId: unknown,
  server: ServerContext,
  needs: Needs = {},
): Promise<TaskRecord> {
  const key = taskKey(principal, taskId);
  // Before the read: a poll too many costs nothing.
  if (needs.polled && key !== undefined) server.pollLimit.count(key);
  const readAt = server.now();
  const stored = key && (await server.store.get(key, needs));
  const record = stored && currentRecord(stored, readAt, server);
  if (record === undefined) {
    auditMissing(principal, [key], server);
    throw new TaskNotFound();
  }
  checkScopes(principal, record, server);
  if (record.status === 'failed') await storeUnaskable(stored as TaskRecord, server);
  if (needs.olderOnly && record.legacy !== true) {
    throw new MissingClientCapability('This task is for clients that know tasks', TASKS_CAPABILITY);
  }
  // Before anything of S3, which may fail: only tasks whose interval is known are counted.
  if (needs.polled) server.pollLimit.setInterval(record, view(record, server).pollInterval);
  // Once the result is fetched, the record does not say any more that it lies in S3.
  if (needs.result === 'shown') await countLarge(principal, record, server);
  return complete(record, needs, server);
}

const bytesOf = ({ status, result = '' }: TaskRecord): number =>
  status === 'completed' ? (storedResult(result)?.bytes ?? 0) : 0;

/**
 * Counts an answer with a result or a file if it may keep a container busy: Lambda sends what is beyond 6 MB at 2 MB a second. Each container
 * counts polls by itself, and an owner has many of them. Callers who cannot be distinguished would take it from each other: theirs are
 * counted as polls only. Throws TooManyLists.
 */
export async function countLarge(
  principal: Principal,
  shown: TaskRecord | { readonly bytes: number },
  server: Pick<ServerContext, 'pollLimit' | 'store'>,
): Promise<void> {
  const bytes = 'bytes' in shown ? shown.bytes : bytesOf(shown);
  const isLarge = bytes > limits.result.large && listPartition(principal) !== undefined;
  if (isLarge) await server.pollLimit.countList(principal, server);
}

/** A task whose caller was checked before, as a stream reads it again and again. Undefined once it has expired. */
export async function readAgain(key: TaskKey, server: ServerContext, needs: Needs): Promise<TaskRecord | undefined> {
  const readAt = server.now();
  const stored = await server.store.get(key, needs);
  const record = stored && currentRecord(stored, readAt, server);
  return record && complete(record, needs, server);
}

/** Adds to a record what its reader needs. A round is started first: no outage of S3 may keep a task from its run. */
export async function complete(record: TaskRecord, needs: Needs, server: ServerContext): Promise<TaskRecord> {
  if (needs.restart) await startIfCrashed([record], server);
  const linked = await withPreviewLink(record, server);
  const known = needs.state ? await withMachineState(linked, server) : linked;
  const asked = needs.questions ? await withQuestions(known, server) : known;
  return needs.result === undefined ? asked : withResult(asked, needs.result, server);
}

/**
 * A record to be shown. While a state machine does the work, the name of its current state is the status message, with the
 * count of its Map, and a new one counts as a change (docs/architecture/workflows.md, "State machines as tools"). A message that the tool reported
 * comes first.
 */
async function withMachineState(record: TaskRecord, server: ServerContext): Promise<TaskRecord> {
  const stateMachine = server.tools.get(record.tool)?.entry.stateMachine;
  if (stateMachine === undefined || record.status !== 'working' || record.statusMessage !== undefined) return record;
  const state = await server.currentState(record, stateMachine);
  if (state === undefined) return record;
  const { name, map } = state;
  const statusMessage = map === undefined ? name : `${name} (${map.done} of ${map.of})`;
  return { ...record, statusMessage, updatedAt: Math.max(record.updatedAt, state.enteredAt) };
}

/**
 * The caller's tasks with these ids, as `readTask`, with as many reports as `limits.listenUnits` allows. Leaves out those
 * that are unknown, foreign or expired (E-25).
 */
export async function readTasks(
  principal: Principal,
  taskIds: readonly unknown[],
  server: ServerContext,
): Promise<TaskRecord[]> {
  const keys = [...new Set(taskIds)].flatMap((id) => taskKey(principal, id) ?? []);
  const readAt = server.now();
  const stored = keys.length === 0 ? [] : await server.store.getMany(keys);
  // The rest of the reports comes with the next read.
  const most = 2 * (limits.listenUnits - keys.length);
  const found = [...(await server.store.withReports(stored.slice(0, most))), ...stored.slice(most)];
  const missing = keys.filter(({ taskId }) => !found.some((record) => record.taskId === taskId));
  if (missing.length > 0) auditMissing(principal, missing, server);
  // Only once: checking a hundred results against a slow schema takes seconds.
  const records = found.flatMap((record) => currentRecord(record, readAt, server) ?? []);
  for (const record of records) checkScopes(principal, record, server);
  await startIfCrashed(records, server);
  return records;
}

/** The same tasks later: half a unit each, as much for each report. A deadline decides only after a consistent read. */
export async function readTasksAgain(open: readonly TaskRecord[], server: ServerContext): Promise<TaskRecord[]> {
  const readAt = server.now();
  const late = open.length === 0 ? [] : await server.store.readMany(open);
  const lapsed = late.filter((record) => asOf(record, readAt)?.status !== record.status);
  const sure = lapsed.length === 0 ? [] : await server.store.getMany(lapsed);
  const records = [...late.filter((record) => !lapsed.includes(record)), ...sure];
  return records.flatMap((record) => currentRecord(record, readAt, server) ?? []);
}

/** The caller's stored records that this token may see, as of the time when their read was sent (G-16). */
export function visible(
  principal: Principal,
  stored: readonly TaskRecord[],
  readAt: number,
  server: ServerContext,
): TaskRecord[] {
  return stored
    .flatMap((record) => currentRecord(record, readAt, server) ?? [])
    .filter((record) => hasScopes(principal, record, server));
}

/**
 * A stored record as every reader sees it. Undefined if it has expired.
 *
 * @param readAt when the read was sent, in ms since the epoch. By the time of its answer the deadline may have passed,
 *   and a result may have been written since.
 */
export function currentRecord(stored: TaskRecord, readAt: number, server: ServerContext): TaskRecord | undefined {
  const record = asOf(stored, readAt);
  return record && withCheckedResult(record, server);
}

/** Stores the failure of a task with invalid questions, so that every release sees the same. */
async function storeUnaskable(stored: TaskRecord, { store }: ServerContext): Promise<void> {
  const open = stored.status === 'input_required' || stored.status === 'waiting';
  const change = open ? unaskable(stored) : undefined;
  // Best effort: readers see the failure without it.
  if (change !== undefined) await store.applyBlind(stored, change).catch(() => undefined);
}

/** One line for all tasks of a request that are unknown, foreign or expired: the server cannot know which. */
function auditMissing(principal: Principal, missing: readonly (TaskKey | undefined)[], { audit }: ServerContext): void {
  const tasks = missing.length === 1 ? {} : { tasks: missing.length };
  audit('denied', { owner: listPartition(principal), taskId: missing[0]?.taskId, ...tasks, reason: 'not_found' });
}

/** As clients see it: a task that waits for something else than its client works. */
export function shown(record: TaskRecord): TaskRecord {
  if (record.status !== 'waiting') return record;
  const statusMessage = waitMessage(record) ?? record.statusMessage;
  return { ...record, status: 'working', ...(statusMessage !== undefined && { statusMessage }) };
}

export function view(stored: TaskRecord, server: ServerContext): TaskView {
  const record = shown(stored);
  return { record, pollInterval: pollInterval(record, server.tools.get(record.tool)?.entry, server.now()) };
}
