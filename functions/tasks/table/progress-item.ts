import { BatchGetCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { limits } from '../limits.ts';
import type { TaskKey, TaskRecord } from '../record.ts';
import { isNumber, isString } from '../shape.ts';
import { ifConditionHolds } from './conditional-write.ts';

/**
 * What the runs of a task write lies in a partition beside that of its records: IAM can tell the two apart by the
 * partition key, and a tool's credentials may write in this one only. Progress and memory are two items, so that a poll
 * does not pay for the memory.
 */
export const PROGRESS_PARTITION = 'progress#';

/** The item of what a run reports. A tool writes it, so nothing in it is certain. */
interface ProgressItem {
  readonly round?: unknown;
  /** In ms since the epoch. */
  readonly updatedAt?: unknown;
  readonly statusMessage?: unknown;
  readonly progress?: unknown;
  readonly progressTotal?: unknown;
}

/** A run of a task: its attempts share a round. */
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
  /** Replaces the report before. False when a later round of the task has reported. `now` in ms since the epoch. */
  report(run: RunKey, report: Report, now: number): Promise<boolean>;
  /** Keeps JSON text for another attempt at this round. False when a later round has kept something. */
  remember(run: RunKey, memory: string): Promise<boolean>;
  /** What an earlier attempt at this round has kept. */
  recall(run: RunKey): Promise<string | undefined>;
}

export const progressKey = ({ owner, taskId }: TaskKey): TaskKey => ({ owner: PROGRESS_PARTITION + owner, taskId });
const memoryKey = ({ owner, taskId }: TaskKey): TaskKey => ({
  owner: PROGRESS_PARTITION + owner,
  taskId: `${taskId}#memory`,
});

export function progressStore(db: DynamoDBDocumentClient, table: string): ProgressStore {
  /** `round` is the attribute that says which round has written the item. Undefined values are removed. */
  async function write(run: RunKey, Key: TaskKey, round: string, item: Readonly<Record<string, unknown>>) {
    // Nothing reads these items after the deadline.
    const all = { ...item, [round]: run.round, expiresAt: Math.ceil((run.deadline + limits.retention) / 1_000) };
    const names = Object.keys(all);
    const given = Object.entries(all).filter(([, value]) => value !== undefined);
    const gone = names.filter((name) => !given.some(([one]) => one === name));
    const update = new UpdateCommand({
      TableName: table,
      Key,
      ConditionExpression: `attribute_not_exists(#${round}) OR #${round} <= :${round}`,
      UpdateExpression:
        `SET ${given.map(([name]) => `#${name} = :${name}`).join(', ')}` +
        (gone.length > 0 ? ` REMOVE ${gone.map((name) => `#${name}`).join(', ')}` : ''),
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries(given.map(([name, value]) => [`:${name}`, value])),
      ReturnValues: 'NONE',
    });
    return (await ifConditionHolds(db.send(update))) !== undefined;
  }

  return {
    report: (run, { message, progress, total }, now) =>
      write(run, progressKey(run), 'round', {
        updatedAt: now,
        statusMessage: message,
        progress,
        progressTotal: total,
      }),
    remember: (run, memory) => write(run, memoryKey(run), 'memoryRound', { memory }),
    async recall(run) {
      const get = new GetCommand({
        TableName: table,
        Key: memoryKey(run),
        ConsistentRead: true,
        ProjectionExpression: '#memoryRound, #memory',
        ExpressionAttributeNames: { '#memoryRound': 'memoryRound', '#memory': 'memory' },
      });
      const { memoryRound, memory } = (await db.send(get)).Item ?? {};
      return memoryRound === run.round && isString(memory) ? (memory as string) : undefined;
    },
  };
}

/** What the run of a task has reported: half a read unit, and perhaps a second late. A failure is no report. */
export async function readProgress(
  db: DynamoDBDocumentClient,
  table: string,
  key: TaskKey,
): Promise<ProgressItem | undefined> {
  const get = new GetCommand({ TableName: table, Key: progressKey(key) });
  return (await db.send(get).catch(unread))?.Item;
}

/** The same for up to 100 records: those that work are shown with what their runs have reported. */
export async function withAllProgress(
  db: DynamoDBDocumentClient,
  table: string,
  records: readonly TaskRecord[],
): Promise<TaskRecord[]> {
  const Keys = records.filter(({ status }) => status === 'working').map(progressKey);
  if (Keys.length === 0) return [...records];
  const read = await db.send(new BatchGetCommand({ RequestItems: { [table]: { Keys } } })).catch(unread);
  const items = new Map((read?.Responses?.[table] ?? []).map((item) => [`${item.owner} ${item.taskId}`, item]));
  return records.map((record) => {
    const { owner, taskId } = progressKey(record);
    return withProgress(record, items.get(`${owner} ${taskId}`));
  });
}

/** Whoever asks for a task can do without its progress. */
function unread(error: Error): undefined {
  console.error(JSON.stringify({ event: 'progress_unread', error: error.name }));
}

/**
 * The record with what its run has reported, while it works at that round: a run of an earlier round, or of a task that
 * is over, shows nothing. What is not of the right kind is left out, and no report is later than the deadline.
 */
export function withProgress(record: TaskRecord, item: ProgressItem | undefined): TaskRecord {
  if (item === undefined || record.status !== 'working' || item.round !== record.round) return record;
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
