import { setTimeout as sleep } from 'node:timers/promises';
import { KEY, SEEN, SORT_KEYS, tableKey } from '../attributes.ts';
import type { DynamoDb, UpdateInput } from '../aws/dynamodb.ts';
import { asOf } from '../deadlines.ts';
import { InternalError } from '../errors.ts';
import { createdAtOf, shardOf, keyOf as taskKeyOf } from '../ids.ts';
import { limits } from '../limits.ts';
import type { TaskKey } from '../record.ts';
import { isTerminal } from '../transitions/change.ts';
import { ifConditionHolds } from './conditional-write.ts';
import { fullOwnerNotes } from './full-owner.ts';
import { recordIn } from './known-record.ts';

/**
 * Bounds how many unfinished tasks an owner has (C-37). A task takes a slot before it is created, in one conditional write,
 * so no race can take more slots than there are. The slots lie in shards: an item with a set of at most
 * `limits.openTaskSlots.ofShard`, as each write costs units for the whole item. The end of a task does not free its slot: when
 * its shard is full, a create searches for tasks that have ended and frees theirs. So a busy owner pays for one small search
 * per some creates.
 *
 * A search that finds no free slot among a hundred counts for `limits.openTaskSlots.full`: until then each create is refused after one
 * small read. That note is a separate item, as a failed condition costs a write unit. While all slots are taken, one create searches at
 * a time, and the others wait for it: many may come at the same moment, and all would read the same hundred records.
 */
export interface OpenTaskSlotStore {
  /**
   * False when the owner has `most` unfinished tasks, as far as is known. `expiresAt` in seconds since the epoch.
   *
   * @param maySearch called before a search for tasks that have ended, which reads up to a hundred records, if a cancel has caused it
   * @param wait waits some milliseconds for another create that searches
   */
  takeSlot(
    key: TaskKey,
    most: number,
    now: number,
    expiresAt: number,
    maySearch?: () => Promise<boolean>,
    wait?: (ms: number) => Promise<unknown>,
  ): Promise<boolean>;
  /** A task of this owner has ended: the next create searches again, even if the owner was full a moment ago. */
  slotFreed(owner: string, now: number): Promise<void>;
  /**
   * The newest tasks of an owner whose slots are not freed: at most `most`, and half as many with idempotency keys. Their ids do
   * not sort by time, so these are the newest by the minute.
   */
  newestTaken(owner: string, most: number): Promise<TaskKey[]>;
}

const ATTEMPTS = 12;
/** The longest pause of a create before it looks again what another one has found, in milliseconds. All together are longer than `ALONE`. */
const PAUSE = 200;
/** Records that one request reads. */
const BATCH = 100;
/**
 * A slot is the last 36 characters of the taskId (those before are the same for an owner) and the minute it was taken.
 */
const ID = 36;
const MINUTE = 60_000;
const { ofShard } = limits.openTaskSlots;
const SHARDS_OF_BATCH = BATCH / ofShard;

const SEEN_NAMES = Object.fromEntries(SEEN.map((attribute) => [`#${attribute}`, attribute]));

/** A slot that is taken, and where. */
interface Held {
  readonly shard: number;
  readonly slot: string;
}

export function openTaskSlotStore(db: DynamoDb, table: string): OpenTaskSlotStore {
  const notes = fullOwnerNotes(db, table);
  const keyOf = (owner: string, shard: number) => tableKey({ owner, taskId: `${SORT_KEYS.slots}${shard}` });

  async function add(owner: string, { shard, slot }: Held, most: number, expiresAt: number): Promise<boolean> {
    const update: UpdateInput = {
      TableName: table,
      Key: keyOf(owner, shard),
      // A repeat of the same create uses the slot of the first.
      ConditionExpression: 'attribute_not_exists(#taken) OR contains(#taken, :one) OR size(#taken) < :most',
      UpdateExpression: 'ADD #taken :slot SET #expiresAt = :expiresAt',
      ExpressionAttributeNames: { '#taken': 'taken', '#expiresAt': 'expiresAt' },
      ExpressionAttributeValues: {
        ':slot': new Set([slot]),
        ':one': slot,
        ':most': roomOf(shard, most),
        ':expiresAt': expiresAt,
      },
    };
    return (await ifConditionHolds(db.update(update))) !== undefined;
  }

  async function allHeld(owner: string): Promise<Held[]> {
    const { Items = [] } = await db.query({
      TableName: table,
      KeyConditionExpression: '#owner = :owner AND begins_with(#taskId, :slots)',
      ExpressionAttributeNames: { '#owner': KEY.partition, '#taskId': KEY.sort },
      ExpressionAttributeValues: { ':owner': owner, ':slots': SORT_KEYS.slots },
      ConsistentRead: true,
    });
    return Items.flatMap((item) => heldOf(Number(String(item[KEY.sort]).slice(SORT_KEYS.slots.length)), item));
  }

  async function free(owner: string, gone: readonly Held[]): Promise<void> {
    const shards = Map.groupBy(gone, ({ shard }) => shard);
    const updates = [...shards].map(
      ([shard, slots]): UpdateInput => ({
        TableName: table,
        Key: keyOf(owner, shard),
        UpdateExpression: 'DELETE #taken :slots',
        ExpressionAttributeNames: { '#taken': 'taken' },
        ExpressionAttributeValues: { ':slots': new Set(slots.map(({ slot }) => slot)) },
      }),
    );
    await Promise.all(updates.map((update) => db.update(update)));
  }

  /**
   * Of at most a hundred slots those whose task has ended, was never created, or has a later slot. A task that could not be
   * read counts as open, and one that ended a moment ago does, unless the read is `exact`.
   */
  async function needless(key: TaskKey, held: readonly Held[], now: number, exact: boolean): Promise<Held[]> {
    if (held.length === 0) return [];
    const { owner, taskId } = key;
    const last = new Map(
      held.toSorted((a, b) => (a.slot < b.slot ? -1 : 1)).map((one) => [one.slot.slice(0, ID), one]),
    );
    const idOf = (slot: string) => taskId.slice(0, -ID) + slot.slice(0, ID);
    const request = {
      Keys: [...last.values()].map(({ slot }) => tableKey({ owner, taskId: idOf(slot) })),
      ConsistentRead: exact,
      ProjectionExpression: Object.keys(SEEN_NAMES).join(', '),
      ExpressionAttributeNames: SEEN_NAMES,
    };
    const got = await db.batchGet({ RequestItems: { [table]: request } });
    const unread = new Set((got.UnprocessedKeys?.[table]?.Keys ?? []).map((one) => one[KEY.sort] as string));
    const records = new Map((got.Responses?.[table] ?? []).map((record) => [record[KEY.sort] as string, record]));
    const isGone = (one: Held) => {
      if (last.get(one.slot.slice(0, ID)) !== one) return true;
      const id = idOf(one.slot);
      return !unread.has(id) && isOver(one.slot, records.get(id), now);
    };
    return held.filter(isGone);
  }

  /**
   * A shard with room, after a search for tasks that have ended: among the tasks of the shard `own`, then, if no other one has room, of
   * all others. `full` if all slots are in use, `searched` if another create is searching.
   *
   * @param alone whether this create may search while all slots are taken
   * @param nearlyFull called when a hundred tasks were open: the search goes on, and other creates need not do the same
   */
  async function shardWithRoom(
    key: TaskKey,
    own: number,
    most: number,
    now: number,
    alone: () => Promise<boolean>,
    nearlyFull: () => Promise<void>,
  ): Promise<number | 'full' | 'searched'> {
    const { owner } = key;
    const shards = shardsOf(most);
    // Half the price. It may miss the end of a moment ago, so a search of all reads this shard again.
    const exact = shards <= SHARDS_OF_BATCH;
    const all = Map.groupBy(await allHeld(owner), ({ shard }) => shard);
    const others = Array.from({ length: shards - 1 }, (_, i) => (own + 1 + i) % shards);
    const open = (shard: number) => all.get(shard) ?? [];
    const roomy = others.find((shard) => open(shard).length < roomOf(shard, most));
    if (roomy === undefined && !(await alone())) return 'searched';
    const gone = await needless(key, open(own), now, exact);
    await free(owner, gone);
    if (open(own).length - gone.length < roomOf(own, most)) return own;
    if (roomy !== undefined) return roomy;
    const searched = exact ? others : [...others, own];
    for (let from = 0; from < searched.length; from += SHARDS_OF_BATCH) {
      if (from === SHARDS_OF_BATCH) await nearlyFull();
      const some = searched.slice(from, from + SHARDS_OF_BATCH);
      const ended = await needless(key, some.flatMap(open), now, true);
      await free(owner, ended);
      const left = (shard: number) => open(shard).length - ended.filter((one) => one.shard === shard).length;
      const found = some.find((shard) => left(shard) < roomOf(shard, most));
      if (found !== undefined) return found;
    }
    return 'full';
  }

  return {
    async slotFreed(owner, now) {
      if ((await notes.of(owner, now)).open > 0) await notes.freed(owner, now);
    },
    async takeSlot(key, most, now, expiresAt, maySearch = async () => true, wait = sleep) {
      const { owner, taskId } = key;
      const { open, freed } = await notes.of(owner, now);
      if (open >= most) return false;
      const note = () => notes.full(owner, most, now, expiresAt);
      const slot = taskId.slice(-ID) + Math.floor(now / MINUTE).toString(36);
      const own = shardOf(taskId, shardsOf(most));
      let shard = own;
      let waited = 0;
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await add(owner, { shard, slot }, most, expiresAt)) return true;
        if (freed && !(await maySearch())) return false;
        let searches = false;
        const alone = async () => (searches = await notes.searchAlone(owner, now + waited, expiresAt));
        let found: Awaited<ReturnType<typeof shardWithRoom>> | undefined;
        try {
          found = await shardWithRoom(key, own, most, now, alone, note);
        } finally {
          // A note that says full takes its place.
          if (searches && found !== 'full') await notes.searchIsOver(owner).catch(() => undefined);
        }
        if (found === 'full') {
          await note();
          return false;
        }
        if (found !== 'searched') {
          shard = found;
          continue;
        }
        let searched: boolean;
        do {
          const pause = PAUSE * (0.5 + Math.random() / 2);
          await wait(pause);
          waited += pause;
          const seen = await notes.of(owner, now + waited);
          if (seen.open >= most) return false;
          searched = seen.searched;
        } while (searched && ++attempt < ATTEMPTS);
        shard = own;
      }
      throw new InternalError('Too many calls at once: try again');
    },
    async newestTaken(owner, most) {
      const held = (await allHeld(owner)).toSorted((a, b) => (a.slot < b.slot ? 1 : -1));
      const [timed = [], keyed = []] = [true, false].map((is) => held.filter(({ slot }) => isTimed(slot) === is));
      const byMinute = keyed.toSorted((a, b) => takenAtOf(b.slot) - takenAtOf(a.slot));
      const newest = new Set(
        [...timed.slice(0, most), ...byMinute.slice(0, most / 2)].map(({ slot }) => slot.slice(0, ID)),
      );
      return [...newest].map((id) => taskKeyOf({ owner }, id));
    },
  };
}

/** In ms since the epoch, rounded down to a minute. */
const takenAtOf = (slot: string): number => Number.parseInt(slot.slice(ID), 36) * MINUTE;
/** Whether the id of the task says when it was created: it has no idempotency key. */
const isTimed = (slot: string): boolean => Math.abs(createdAtOf(slot.slice(0, ID)) - takenAtOf(slot)) <= 5 * MINUTE;

const shardsOf = (most: number): number => Math.ceil(most / ofShard);
/** All shards together have as many slots as the owner may have open tasks. */
const roomOf = (shard: number, most: number): number => Math.min(ofShard, most - shard * ofShard);

const heldOf = (shard: number, item: Readonly<Record<string, unknown>> | undefined): Held[] =>
  item?.taken instanceof Set ? [...(item.taken as Set<string>)].map((slot) => ({ shard, slot })) : [];

function isOver(slot: string, record: Readonly<Record<string, unknown>> | undefined, now: number): boolean {
  if (record === undefined) return now - takenAtOf(slot) > limits.openTaskSlots.createdWithin + MINUTE;
  // A record that this release does not understand keeps no slot: nothing here could free it later.
  const known = recordIn(record);
  const seen = known && asOf(known, now);
  // A cancelled task keeps its slot until its run is stopped: else one caller could use up the stops of the account.
  return seen === undefined || (isTerminal(seen.status) && (seen.status !== 'cancelled' || seen.due === undefined));
}
