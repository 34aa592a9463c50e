import { SORT_KEYS, tableKey } from '../attributes.ts';
import type { DynamoDb, UpdateInput } from '../aws/dynamodb.ts';
import { limits } from '../limits.ts';
import { ifConditionHolds } from './conditional-write.ts';

/** In place of the number of open tasks: it was full, and a cancel has freed a slot. */
const FREED = 0;
/** How long one create searches alone, in milliseconds. If it dies, another one may search then. */
const ALONE = 1_000;

/** What creates note of an owner whose slots are all taken, in one item for each owner: see `OpenTaskSlotStore`. */
export function fullOwnerNotes(db: DynamoDb, table: string) {
  const keyOf = (owner: string) => tableKey({ owner, taskId: SORT_KEYS.full });

  /** It takes the place of all that was noted before, also of a search that goes on. */
  async function put(owner: string, open: number, now: number, expiresAt: number): Promise<void> {
    const Item = { ...keyOf(owner), open, until: now + limits.openTaskSlots.full, expiresAt };
    await db.put({ TableName: table, Item });
  }

  return {
    /**
     * `open`: how many open tasks the last search found, if it found the owner full and still counts. `freed`: a cancel has ended that
     * note a moment ago. Each cancel may cause a search by every call that comes then: so these are counted. `searched`: another create
     * is searching.
     */
    async of(
      owner: string,
      now: number,
    ): Promise<{ readonly open: number; readonly freed: boolean; readonly searched: boolean }> {
      // Consistent: a cancel may have ended it a moment ago.
      const { Item } = await db.get({ TableName: table, Key: keyOf(owner), ConsistentRead: true });
      // Not much longer, whatever the clock of its writer says.
      const counts = Item !== undefined && now < Item.until && Item.until <= now + 2 * limits.openTaskSlots.full;
      const searched = now <= Item?.alone && Item?.alone <= now + 2 * ALONE;
      return { open: counts ? Number(Item.open) : 0, freed: counts && Item.open === FREED, searched };
    },

    /**
     * A cancel between the search and this write finds no note to end, so its slot is found when the note expires. To
     * close this gap, each cancel would have to write, too.
     */
    full: put,

    freed: (owner: string, now: number) => put(owner, FREED, now, Math.ceil(now / 1_000) + 60),

    /** False: another create is searching. */
    async searchAlone(owner: string, now: number, expiresAt: number): Promise<boolean> {
      const update: UpdateInput = {
        TableName: table,
        Key: keyOf(owner),
        // Not much longer, whatever the clock of its writer says.
        ConditionExpression: 'attribute_not_exists(#alone) OR #alone < :now OR #alone > :late',
        UpdateExpression: 'SET #alone = :until, #expiresAt = :expiresAt',
        ExpressionAttributeNames: { '#alone': 'alone', '#expiresAt': 'expiresAt' },
        ExpressionAttributeValues: {
          ':now': now,
          ':late': now + 2 * ALONE,
          ':until': now + ALONE,
          ':expiresAt': expiresAt,
        },
      };
      return (await ifConditionHolds(db.update(update))) !== undefined;
    },

    async searchIsOver(owner: string): Promise<void> {
      await db.update({
        TableName: table,
        Key: keyOf(owner),
        UpdateExpression: 'REMOVE #alone',
        ExpressionAttributeNames: { '#alone': 'alone' },
      });
    },
  };
}
