import { KEY, tableKey } from '../attributes.ts';
import type { DynamoDb, GetInput } from '../aws/dynamodb.ts';
import { limits } from '../limits.ts';
import { logEvent } from '../log.ts';
import type { TaskKey, TaskRecord } from '../record.ts';
import { isInteger, isNumber, isString } from '../shape.ts';
import { type RunKey, runItemKey, writeRunItem } from './run-items.ts';

/** What a run reports. A tool writes it, so each field is checked before use. */
interface ProgressItem {
  readonly round?: unknown;
  /** In ms since the epoch. */
  readonly updatedAt?: unknown;
  readonly statusMessage?: unknown;
  readonly progress?: unknown;
  readonly progressTotal?: unknown;
}

export interface Report {
  readonly message: string;
  readonly progress?: number;
  readonly total?: number;
}

export interface ProgressStore {
  /** Replaces the last report. False when a later round of the task has reported. `now` in ms since the epoch. */
  report(run: RunKey, report: Report, now: number): Promise<boolean>;
}

export const progressStore = (db: DynamoDb, table: string): ProgressStore => ({
  report: (run, { message, progress, total }, now) =>
    writeRunItem(db, table, {
      run,
      Key: runItemKey(run),
      item: { round: run.round, updatedAt: now, statusMessage: message, progress, progressTotal: total },
      or: ['#round <= :round'],
    }),
});

/** The report of a task's run, perhaps a second late: half a read unit. Undefined if it cannot be read. */
export async function readProgress(db: DynamoDb, table: string, key: TaskKey): Promise<ProgressItem | undefined> {
  const get: GetInput = { TableName: table, Key: tableKey(runItemKey(key)) };
  return (await db.get(get).catch(unread))?.Item;
}

/** Up to 100 records; those that are working with the reports of their runs. */
export async function withAllProgress(
  db: DynamoDb,
  table: string,
  records: readonly TaskRecord[],
): Promise<TaskRecord[]> {
  const shown = records.filter(({ status }) => status === 'working' || status === 'waiting');
  const Keys = shown.map((record) => tableKey(runItemKey(record)));
  if (Keys.length === 0) return [...records];
  const read = await db.batchGet({ RequestItems: { [table]: { Keys } } }).catch(unread);
  const items = new Map(
    (read?.Responses?.[table] ?? []).map((item) => [`${item[KEY.partition]} ${item[KEY.sort]}`, item]),
  );
  return records.map((record) => {
    const { owner, taskId } = runItemKey(record);
    return withProgress(record, items.get(`${owner} ${taskId}`));
  });
}

/** A task without its progress is a good enough answer. */
function unread(error: Error): undefined {
  logEvent('progress_unread', { error: error.name });
}

/**
 * The record with the report of its run, while it works or waits. A run of a round before a question, or of a task that has
 * ended, shows nothing. Fields of the wrong type are left out. No report is later than the deadline.
 */
export function withProgress(record: TaskRecord, item: ProgressItem | undefined): TaskRecord {
  const { status, round, reportsFrom = round } = record;
  if (item === undefined || (status !== 'working' && status !== 'waiting')) return record;
  if (!isInteger(item.round) || Number(item.round) < reportsFrom || Number(item.round) > round) return record;
  const { updatedAt: at, statusMessage: message, progress, progressTotal: total } = item;
  return {
    ...record,
    ...(isNumber(at) && { updatedAt: Math.min(Math.max(record.updatedAt, Number(at)), latestReport(record)) }),
    ...(isString(message) && { statusMessage: String(message).slice(0, limits.statusMessage) }),
    ...(isNumber(progress) && { progress: Number(progress) }),
    ...(isNumber(total) && { progressTotal: Number(total) }),
  };
}

const latestReport = ({ updatedAt, deadlineAt }: TaskRecord): number => Math.max(updatedAt, deadlineAt);
