import type { EventItems } from '../tasks/table/events/items.ts';
import type { NewEvent, NewIn } from '../tasks/table/events/log.ts';

/*
 * New events of an owner are in two partitions of the table: those that DynamoDB refuses in the first one, as it is busy with items
 * of somebody else, are in the second one. So they delay no other owner (`publish.ts`).
 */
type Items = Pick<EventItems, 'newEvents'>;

/**
 * The first new events, in order. No event of a task is among them without those before it, in whichever partition each is. They
 * were put one after the other, so what comes before an event of the one partition is seen by a read of the other one that begins
 * later.
 */
export async function newEvents(
  items: Items,
  owner: string,
  most: number,
): Promise<readonly (NewEvent & { readonly of: NewIn })[]> {
  const page = async (of: NewIn) => (await items.newEvents(owner, most, of)).map((one) => ({ ...one, of }));
  const first = await page('first');
  const second = await page('second');
  if (second.length === 0) return first;
  const again = await page('first');
  const lastOf = new Map(second.map(({ event, place }) => [event?.taskId, place]));
  // Others that came meanwhile may follow one that came into the second partition after it was read.
  const before = again.filter(({ event, place }) => place < (lastOf.get(event?.taskId) ?? ''));
  // What is behind a full page may come before one of the second partition.
  const end = again.length < most ? undefined : again.at(-1)?.place;
  const all = new Map([...second, ...first, ...before].map((one) => [one.place, one]));
  return [...all.values()]
    .filter(({ place }) => end === undefined || place <= end)
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .slice(0, most);
}

export const hasNewEvents = async (items: Items, owner: string): Promise<boolean> =>
  (await items.newEvents(owner, 1, 'first')).length > 0 || (await items.newEvents(owner, 1, 'second')).length > 0;
