import { factsOf } from '../events/facts.ts';
import { errorFacts, logEvent } from '../tasks/log.ts';
import type { EventFacts } from '../tasks/table/event-items.ts';
import type { TaskChange } from './changes.ts';

/** Puts an event into the log of its owner, and its messages into the queue of deliveries. */
export type Tell = (owner: string, facts: EventFacts) => Promise<unknown>;

/**
 * Tells of the changes of records, each owner's in their order. Returns the index of the first record with a change that it
 * could not tell: this one and all later ones come again.
 */
export async function firstUntold(
  records: readonly (readonly TaskChange[])[],
  tell: Tell,
): Promise<number | undefined> {
  const told = records.flatMap((changes, index) =>
    changes.flatMap(({ task, moved }) => {
      // Only a verified caller can have subscribed.
      const facts = moved && task.owner.startsWith('owner#') ? factsOf(task, moved.to) : undefined;
      return facts === undefined ? [] : [{ owner: task.owner, facts, index }];
    }),
  );
  const failed = await Promise.all(
    [...Map.groupBy(told, ({ owner }) => owner)].map(async ([owner, events]) => {
      for (const { facts, index } of events) {
        try {
          await tell(owner, facts);
        } catch (error) {
          logEvent('mcp_event_failed', errorFacts(error));
          return index;
        }
      }
      return Number.POSITIVE_INFINITY;
    }),
  );
  const first = Math.min(...failed);
  return Number.isFinite(first) ? first : undefined;
}
