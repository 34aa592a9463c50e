import { SEEN, SORT_KEYS } from '../attributes.ts';
import type { DynamoDb, UpdateInput } from '../aws/dynamodb.ts';
import { asOf } from '../deadlines.ts';
import { InternalError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { TaskKey } from '../record.ts';
import { isTerminal } from '../transitions/change.ts';
import { ifConditionHolds } from './conditional-write.ts';
import { isKnown } from './known-record.ts';

/**
 * Bounds how many unfinished tasks an owner has (C-37). One item per owner holds a set with a slot for each. A task
 * takes its slot before it is created, in one conditional write, so no race can take more slots than there are. The end
 * of a task does not free its slot: when none is left, a create searches for tasks that have ended and frees theirs. So
 * a busy owner pays for one search of some dozens of tasks per some dozens of creates.
 *
 * A search that finds no free slot counts for `limits.openTaskSlots.full`: until then each create is refused after one
 * small read. That note is a separate item, because a failed condition on the set costs write units for its whole size.
 */
export interface OpenTaskSlotStore {
  /** False when the owner has `most` unfinished tasks. `expiresAt` in seconds since the epoch. */
  takeSlot(key: TaskKey, most: number, now: number, expiresAt: number): Promise<boolean>;
  /** A task of this owner has ended: the next create searches again, even if the owner was full a moment ago. */
  slotFreed(owner: string, now: number): Promise<void>;
}

const ATTEMPTS = 8;
const BATCH = 100;
/**
 * A slot is the last 36 characters of the taskId (those before are the same for an owner) and the minute it was taken.
 */
const ID = 36;
const MINUTE = 60_000;

const SEEN_NAMES = Object.fromEntries(SEEN.map((attribute) => [`#${attribute}`, attribute]));

export function openTaskSlotStore(db: DynamoDb, table: string): OpenTaskSlotStore {
  async function add(owner: string, slot: string, most: number, expiresAt: number): Promise<boolean> {
    const update: UpdateInput = {
      TableName: table,
      Key: { owner, taskId: SORT_KEYS.slots },
      ConditionExpression:
        // A repeat of the same create uses the slot of the first.
        'attribute_not_exists(#taken) OR contains(#taken, :one) OR (size(#taken) < :most AND ' +
        '(size(#taken) < #room OR (attribute_not_exists(#room) AND size(#taken) < :small)))',
      UpdateExpression: 'ADD #taken :slot SET #expiresAt = :expiresAt',
      ExpressionAttributeNames: { '#taken': 'taken', '#room': 'room', '#expiresAt': 'expiresAt' },
      ExpressionAttributeValues: {
        ':slot': new Set([slot]),
        ':one': slot,
        ':most': most,
        ':small': limits.openTaskSlots.small,
        ':expiresAt': expiresAt,
      },
    };
    return (await ifConditionHolds(db.update(update))) !== undefined;
  }

  async function taken(owner: string): Promise<string[]> {
    const Key = { owner, taskId: SORT_KEYS.slots };
    const { Item } = await db.get({ TableName: table, Key, ConsistentRead: true });
    return Item?.taken instanceof Set ? [...(Item.taken as Set<string>)] : [];
  }

  async function free(owner: string, slots: readonly string[], room: number): Promise<void> {
    const update: UpdateInput = {
      TableName: table,
      Key: { owner, taskId: SORT_KEYS.slots },
      UpdateExpression: `SET #room = :room${slots.length > 0 ? ' DELETE #taken :slots' : ''}`,
      ExpressionAttributeNames: { '#room': 'room', ...(slots.length > 0 && { '#taken': 'taken' }) },
      ExpressionAttributeValues: { ':room': room, ...(slots.length > 0 && { ':slots': new Set(slots) }) },
    };
    await db.update(update);
  }

  /**
   * Slots whose task has ended, was never created, or has a later slot: all of them, or, of a full set, at least as
   * many as bring it below `most`. Newest first, as short tasks end while others stay open. A task that could not be
   * read counts as open.
   */
  async function needless(
    { owner, taskId }: TaskKey,
    slots: readonly string[],
    most: number,
    now: number,
  ): Promise<string[]> {
    const last = new Map(slots.toSorted().map((slot) => [slot.slice(0, ID), slot]));
    const gone = slots.filter((slot) => last.get(slot.slice(0, ID)) !== slot);
    const kept = [...last.values()].reverse();
    const idOf = (slot: string) => taskId.slice(0, -ID) + slot.slice(0, ID);
    const enough = slots.length < most ? Number.POSITIVE_INFINITY : slots.length - most + 1;
    let size: number = slots.length < most ? BATCH : limits.openTaskSlots.newest;
    for (let from = 0; from < kept.length && gone.length < enough; from += size, size = BATCH) {
      const some = kept.slice(from, from + size);
      const request = {
        Keys: some.map((slot) => ({ owner, taskId: idOf(slot) })),
        // The slot of a task that was cancelled a moment ago must be found.
        ConsistentRead: true,
        ProjectionExpression: Object.keys(SEEN_NAMES).join(', '),
        ExpressionAttributeNames: SEEN_NAMES,
      };
      const got = await db.batchGet({ RequestItems: { [table]: request } });
      const unread = new Set((got.UnprocessedKeys?.[table]?.Keys ?? []).map((key) => key.taskId as string));
      const records = new Map(
        (got.Responses?.[table] ?? []).map((record) => [record.taskId as string, record as unknown]),
      );
      gone.push(...some.filter((slot) => !unread.has(idOf(slot)) && isOver(slot, records.get(idOf(slot)), now)));
    }
    return gone;
  }

  /** How many open tasks the last search found, if it found the owner full and still counts. */
  async function full(owner: string, now: number): Promise<number | undefined> {
    const Key = { owner, taskId: SORT_KEYS.full };
    // Consistent: a cancel may have ended it a moment ago.
    const { Item } = await db.get({ TableName: table, Key, ConsistentRead: true });
    return Item !== undefined && now < Item.until ? (Item.open as number) : undefined;
  }

  /**
   * A cancel between the search and this write finds no note to end, so its slot is found when the note expires. To
   * close this gap, each cancel would have to write, too.
   */
  async function noteFull(owner: string, open: number, until: number, expiresAt: number): Promise<void> {
    const Item = { owner, taskId: SORT_KEYS.full, open, until, expiresAt };
    await db.put({ TableName: table, Item });
  }

  return {
    async slotFreed(owner, now) {
      if ((await full(owner, now)) !== undefined) await noteFull(owner, 0, 0, Math.ceil(now / 1_000));
    },
    async takeSlot(key, most, now, expiresAt) {
      const { owner, taskId } = key;
      if (((await full(owner, now)) ?? 0) >= most) return false;
      const slot = taskId.slice(-ID) + Math.floor(now / MINUTE).toString(36);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await add(owner, slot, most, expiresAt)) return true;
        const slots = await taken(owner);
        const gone = await needless(key, slots, most, now);
        const open = slots.length - gone.length;
        if (open >= most) {
          await noteFull(owner, open, now + limits.openTaskSlots.full, expiresAt);
          return false;
        }
        await free(owner, gone, Math.min(most, Math.max(limits.openTaskSlots.small, 2 * open)));
      }
      throw new InternalError('Too many calls at once: try again');
    },
  };
}

function isOver(slot: string, record: unknown, now: number): boolean {
  const takenAt = Number.parseInt(slot.slice(ID), 36) * MINUTE;
  if (record === undefined) return now - takenAt > limits.openTaskSlots.createdWithin + MINUTE;
  // A record that this release does not understand keeps no slot: nothing here could free it later.
  const seen = isKnown(record) ? asOf(record, now) : undefined;
  return seen === undefined || isTerminal(seen.status);
}
