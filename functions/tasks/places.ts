import { BatchGetCommand, type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { InternalError } from './errors.ts';
import { isKnown } from './known-record.ts';
import { limits } from './limits.ts';
import { lost } from './lost.ts';
import type { TaskKey } from './record.ts';
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
const ATTEMPTS = 8;
const BATCH = 100;
/** All taskIds of an owner begin alike, so this end of them is enough; the minute it was taken in follows. */
const ID = 36;
const MINUTE = 60_000;

/** All that `isKnown` and `asOf` go by. */
const SEEN = [
  ...([
    'owner',
    'version',
    'tool',
    'expiresAt',
    'taskId',
    'status',
    'round',
    'createdAt',
    'updatedAt',
    'ttl',
    'deadlineAt',
  ] as const),
  ...(['asked', 'accepts', 'arguments', 'inputResponses', 'inputRef'] as const),
] as const;
const SEEN_NAMES = Object.fromEntries(SEEN.map((attribute) => [`#${attribute}`, attribute]));

export function placeStore(db: DynamoDBDocumentClient, table: string): PlaceStore {
  async function add(owner: string, place: string, most: number, expiresAt: number): Promise<boolean> {
    const update = new UpdateCommand({
      TableName: table,
      Key: { owner, taskId: SORT_KEY },
      ConditionExpression:
        // A repeat of the same create has its place already.
        'attribute_not_exists(#taken) OR contains(#taken, :one) OR (size(#taken) < :most AND ' +
        '(size(#taken) < #room OR (attribute_not_exists(#room) AND size(#taken) < :small)))',
      UpdateExpression: 'ADD #taken :place SET #expiresAt = :expiresAt',
      ExpressionAttributeNames: { '#taken': 'taken', '#room': 'room', '#expiresAt': 'expiresAt' },
      ExpressionAttributeValues: {
        ':place': new Set([place]),
        ':one': place,
        ':most': most,
        ':small': limits.places.small,
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

  /** Places whose task has ended, never came to be, or has a later one. What could not be read counts as open. */
  async function needless({ owner, taskId }: TaskKey, places: readonly string[], now: number): Promise<string[]> {
    const last = new Map(places.toSorted().map((place) => [place.slice(0, ID), place]));
    const gone = places.filter((place) => last.get(place.slice(0, ID)) !== place);
    const kept = [...last.values()];
    const idOf = (place: string) => taskId.slice(0, -ID) + place.slice(0, ID);
    for (let from = 0; from < kept.length; from += BATCH) {
      const some = kept.slice(from, from + BATCH);
      const request = {
        Keys: some.map((place) => ({ owner, taskId: idOf(place) })),
        // A caller that has just cancelled a task has a place.
        ConsistentRead: true,
        ProjectionExpression: Object.keys(SEEN_NAMES).join(', '),
        ExpressionAttributeNames: SEEN_NAMES,
      };
      const got = await db.send(new BatchGetCommand({ RequestItems: { [table]: request } }));
      const unread = new Set((got.UnprocessedKeys?.[table]?.Keys ?? []).map((key) => key.taskId as string));
      const records = new Map(
        (got.Responses?.[table] ?? []).map((record) => [record.taskId as string, record as unknown]),
      );
      gone.push(...some.filter((place) => !unread.has(idOf(place)) && isOver(place, records.get(idOf(place)), now)));
    }
    return gone;
  }

  return {
    async takePlace(key, most, now, expiresAt) {
      const { owner, taskId } = key;
      const place = taskId.slice(-ID) + Math.floor(now / MINUTE).toString(36);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await add(owner, place, most, expiresAt)) return true;
        const places = await taken(owner);
        const gone = await needless(key, places, now);
        const open = places.length - gone.length;
        if (open >= most) return false;
        await free(owner, gone, Math.min(most, Math.max(limits.places.small, 2 * open)));
      }
      throw new InternalError('Too many calls at once: try again');
    },
  };
}

function isOver(place: string, record: unknown, now: number): boolean {
  const takenAt = Number.parseInt(place.slice(ID), 36) * MINUTE;
  if (record === undefined) return now - takenAt > limits.places.createdWithin + MINUTE;
  // A record that this release does not understand takes no place: nothing here could free it.
  const seen = isKnown(record) ? asOf(record, now) : undefined;
  return seen === undefined || isTerminal(seen.status);
}
