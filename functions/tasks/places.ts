import { BatchGetCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { TaskKey, TaskRecord } from './record.ts';
import { lost } from './store.ts';
import { asOf, isTerminal } from './transitions.ts';

/**
 * How many unfinished tasks an owner has (C-37), in one item beside them: a set with a place for each. A task takes its
 * place before it is created, in one conditional write, so that no race can take more places than there are. Nothing
 * gives a place back: when none is left, those of tasks that have ended are found and freed, which costs a busy owner
 * one look at some dozens of tasks per as many creates.
 */
export interface PlaceStore {
  /** False when the owner has `most` unfinished tasks. `expiresAt` in seconds since the epoch. */
  takePlace(key: TaskKey, most: number, now: number, expiresAt: number): Promise<boolean>;
}

const SORT_KEY = '#places';
/** The set is kept about twice as large as what is open, and at least this, so that taking a place stays cheap. */
const SMALL = 32;
/** A task that is not there so long after it took its place never came to be. */
const CREATED_WITHIN = 60_000;
const ATTEMPTS = 8;
const BATCH = 100;

type Seen = Pick<TaskRecord, (typeof SEEN)[number]>;
const SEEN = ['taskId', 'status', 'createdAt', 'ttl', 'deadlineAt'] as const;
const SEEN_NAMES = Object.fromEntries(SEEN.map((attribute) => [`#${attribute}`, attribute]));

export function placeStore(db: DynamoDBDocumentClient, table: string): PlaceStore {
  async function add(owner: string, place: string, most: number, expiresAt: number): Promise<boolean> {
    const update = new UpdateCommand({
      TableName: table,
      Key: { owner, taskId: SORT_KEY },
      ConditionExpression:
        'attribute_not_exists(#taken) OR (size(#taken) < :most AND ' +
        '(size(#taken) < #room OR (attribute_not_exists(#room) AND size(#taken) < :small)))',
      UpdateExpression: 'ADD #taken :place SET #expiresAt = :expiresAt',
      ExpressionAttributeNames: { '#taken': 'taken', '#room': 'room', '#expiresAt': 'expiresAt' },
      ExpressionAttributeValues: {
        ':place': new Set([place]),
        ':most': most,
        ':small': SMALL,
        ':expiresAt': expiresAt,
      },
    });
    return (await lost(db.send(update))) !== undefined;
  }

  async function taken(owner: string): Promise<string[]> {
    const Key = { owner, taskId: SORT_KEY };
    const { Item } = await db.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }));
    return Item?.taken instanceof Set ? [...(Item.taken as Set<string>)] : [];
  }

  async function free(owner: string, places: readonly string[], room: number): Promise<void> {
    const update = new UpdateCommand({
      TableName: table,
      Key: { owner, taskId: SORT_KEY },
      UpdateExpression: `SET #room = :room${places.length > 0 ? ' DELETE #taken :places' : ''}`,
      ExpressionAttributeNames: { '#room': 'room', ...(places.length > 0 && { '#taken': 'taken' }) },
      ExpressionAttributeValues: { ':room': room, ...(places.length > 0 && { ':places': new Set(places) }) },
    });
    await db.send(update);
  }

  /** Places whose task has ended, or never came to be. What could not be read counts as open. */
  async function ended(owner: string, places: readonly string[], now: number): Promise<string[]> {
    const gone: string[] = [];
    for (let from = 0; from < places.length; from += BATCH) {
      const some = places.slice(from, from + BATCH);
      const Keys = [...new Set(some.map(taskOf))].map((taskId) => ({ owner, taskId }));
      const ProjectionExpression = Object.keys(SEEN_NAMES).join(', ');
      const request = { Keys, ProjectionExpression, ExpressionAttributeNames: SEEN_NAMES };
      const got = await db.send(new BatchGetCommand({ RequestItems: { [table]: request } }));
      const unread = new Set((got.UnprocessedKeys?.[table]?.Keys ?? []).map(({ taskId }) => taskId as string));
      const records = new Map(
        (got.Responses?.[table] ?? []).map((record) => [record.taskId as string, record as Seen]),
      );
      gone.push(
        ...some.filter((place) => !unread.has(taskOf(place)) && isOver(place, records.get(taskOf(place)), now)),
      );
    }
    return gone;
  }

  return {
    async takePlace({ owner, taskId }, most, now, expiresAt) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await add(owner, `${taskId} ${now}`, most, expiresAt)) return true;
        const places = await taken(owner);
        const gone = await ended(owner, places, now);
        const open = places.length - gone.length;
        if (open >= most) return false;
        await free(owner, gone, Math.min(most, Math.max(SMALL, 2 * open)));
      }
      return false;
    },
  };
}

/** A place is `<taskId> <when it was taken>`. */
const taskOf = (place: string): string => place.split(' ')[0] ?? '';

function isOver(place: string, record: Seen | undefined, now: number): boolean {
  if (record === undefined) return now - Number(place.split(' ')[1]) > CREATED_WITHIN;
  const seen = asOf(record as TaskRecord, now);
  return seen === undefined || isTerminal(seen.status);
}
