import { MEMORY_SUFFIX, PROGRESS_PARTITION } from '../attributes.ts';
import type { DynamoDb, GetInput, UpdateInput } from '../aws/dynamodb.ts';
import { limits } from '../limits.ts';
import { logEvent } from '../log.ts';
import type { TaskKey, TaskRecord } from '../record.ts';
import { isInteger, isNumber, isString } from '../shape.ts';
import { ifConditionHolds } from './conditional-write.ts';

// Progress and memory of a run are two items, so a poll does not pay for the memory.

/** What a run reports. A tool writes it, so each field is checked before use. */
interface ProgressItem {
  readonly round?: unknown;
  /** In ms since the epoch. */
  readonly updatedAt?: unknown;
  readonly statusMessage?: unknown;
  readonly progress?: unknown;
  readonly progressTotal?: unknown;
}

/** A round of a task, with all its attempts. */
export interface RunKey extends TaskKey {
  readonly round: number;
  /** When unfinished work is given up, in ms since the epoch. */
  readonly deadline: number;
}

export interface Report {
  readonly message: string;
  readonly progress?: number;
  readonly total?: number;
}

export interface ProgressStore {
  /** Replaces the last report. False when a later round of the task has reported. `now` in ms since the epoch. */
  report(run: RunKey, report: Report, now: number): Promise<boolean>;
  /**
   * Stores JSON text for another attempt at this round. False when a later round has stored some.
   *
   * @param before also false unless this round has stored this; null: nothing. @default whatever it has stored
   */
  remember(run: RunKey, memory: string, before?: string | null): Promise<boolean>;
  /** What an earlier attempt at this round stored. */
  recall(run: RunKey): Promise<string | undefined>;
}

export const progressKey = ({ owner, taskId }: TaskKey): TaskKey => ({ owner: PROGRESS_PARTITION + owner, taskId });
const memoryKey = ({ owner, taskId }: TaskKey): TaskKey => ({
  owner: PROGRESS_PARTITION + owner,
  taskId: taskId + MEMORY_SUFFIX,
});

export function progressStore(db: DynamoDb, table: string): ProgressStore {
  /**
   * `round` names the attribute that holds the round of the writer. Undefined values are removed. `before`: as in
   * `remember`.
   */
  async function write(
    run: RunKey,
    Key: TaskKey,
    round: string,
    item: Readonly<Record<string, unknown>>,
    before?: string | null,
  ) {
    // Nothing reads these items after the deadline.
    const all = { ...item, [round]: run.round, expiresAt: Math.ceil((run.deadline + limits.retention) / 1_000) };
    const names = Object.keys(all);
    const given = Object.entries(all).filter(([, value]) => value !== undefined);
    const gone = names.filter((name) => !given.some(([one]) => one === name));
    const update: UpdateInput = {
      TableName: table,
      Key,
      // What has expired is of an older task with the same idempotency key.
      ConditionExpression: `attribute_not_exists(#${round}) OR #expiresAt < :now OR ${mayReplace(round, before)}`,
      UpdateExpression:
        `SET ${given.map(([name]) => `#${name} = :${name}`).join(', ')}` +
        (gone.length > 0 ? ` REMOVE ${gone.map((name) => `#${name}`).join(', ')}` : ''),
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(given.map(([name, value]) => [`:${name}`, value])),
        ':now': seconds(),
        ...(isString(before) && { ':before': before }),
      },
      ReturnValues: 'NONE',
    };
    return (await ifConditionHolds(db.update(update))) !== undefined;
  }

  return {
    report: (run, { message, progress, total }, now) =>
      write(run, progressKey(run), 'round', {
        updatedAt: now,
        statusMessage: message,
        progress,
        progressTotal: total,
      }),
    remember: (run, memory, before) => write(run, memoryKey(run), 'memoryRound', { memory }, before),
    async recall(run) {
      const get: GetInput = {
        TableName: table,
        Key: memoryKey(run),
        ConsistentRead: true,
        ProjectionExpression: '#memoryRound, #memory, #expiresAt',
        ExpressionAttributeNames: { '#memoryRound': 'memoryRound', '#memory': 'memory', '#expiresAt': 'expiresAt' },
      };
      const { memoryRound, memory, expiresAt } = (await db.get(get)).Item ?? {};
      if (memoryRound !== run.round || !isString(memory) || Number(expiresAt) < seconds()) return undefined;
      return memory as string;
    },
  };
}

const seconds = (): number => Math.floor(Date.now() / 1_000);

function mayReplace(round: string, before: string | null | undefined): string {
  if (before === undefined) return `#${round} <= :${round}`;
  const earlier = `#${round} < :${round}`;
  return before === null ? earlier : `${earlier} OR (#${round} = :${round} AND #memory = :before)`;
}

/** The report of a task's run, perhaps a second late: half a read unit. Undefined if it cannot be read. */
export async function readProgress(db: DynamoDb, table: string, key: TaskKey): Promise<ProgressItem | undefined> {
  const get: GetInput = { TableName: table, Key: progressKey(key) };
  return (await db.get(get).catch(unread))?.Item;
}

/** Up to 100 records; those that are working with the reports of their runs. */
export async function withAllProgress(
  db: DynamoDb,
  table: string,
  records: readonly TaskRecord[],
): Promise<TaskRecord[]> {
  const Keys = records.filter(({ status }) => status === 'working' || status === 'waiting').map(progressKey);
  if (Keys.length === 0) return [...records];
  const read = await db.batchGet({ RequestItems: { [table]: { Keys } } }).catch(unread);
  const items = new Map((read?.Responses?.[table] ?? []).map((item) => [`${item.owner} ${item.taskId}`, item]));
  return records.map((record) => {
    const { owner, taskId } = progressKey(record);
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
