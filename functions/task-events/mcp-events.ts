import { factsOf } from '../events/facts.ts';
import { summaryOf } from '../events/summary.ts';
import { errorFacts, logEvent } from '../tasks/log.ts';
import type { Status } from '../tasks/record.ts';
import type { NewEvent } from '../tasks/table/events/log.ts';
import type { TaskChange } from './changes.ts';
import type { Image } from './snapshot.ts';

/** Keeps events for the log of their owner. */
export type PublishEvents = (owner: string, events: readonly NewEvent[]) => Promise<void>;

/** What a record of the stream publishes. */
export interface Published {
  /** Its number in the stream, up to 40 digits. */
  readonly sequence: string;
  readonly changes: readonly TaskChange[];
  /** Of its event. Undefined: its tool has none, or the record does not hold it. */
  readonly summary?: string | undefined;
}

/** The summary of the event of a change, if its tool is one of those. */
export function summaryIn({ tool, status, ...image }: Image, tools: ReadonlySet<string>): string | undefined {
  if (!tools.has(tool?.S ?? '')) return undefined;
  const { result, error, asked } = image;
  return summaryOf({ status: status?.S as Status, result: result?.S, error: error?.S, asked: asked?.S });
}

/**
 * Publishes the MCP events of records, each owner's in their order. Returns the index of the first record with one that is not
 * published: this record and all later ones come again.
 */
export async function firstUnpublished(
  records: readonly Published[],
  publishEvents: PublishEvents,
): Promise<number | undefined> {
  const all = records.flatMap(({ sequence, changes, summary }, index) =>
    changes.flatMap(({ task, moved }, n) => {
      // Only a verified caller can have subscribed.
      const isKnown = task.owner.startsWith('owner#') && !task.isWithdrawn;
      const facts = moved && isKnown ? factsOf(task, moved.to) : undefined;
      if (facts === undefined) return [];
      const place = `${sequence.padStart(40, '0')}/${n}`;
      const event: NewEvent = { place, at: facts.at, event: facts, ...(summary !== undefined && { summary }) };
      return [{ owner: task.owner, event, index }];
    }),
  );
  const failed = await Promise.all(
    [...Map.groupBy(all, ({ owner }) => owner)].map(async ([owner, events]) => {
      try {
        await publishEvents(
          owner,
          events.map(({ event }) => event),
        );
        return Number.POSITIVE_INFINITY;
      } catch (error) {
        logEvent('mcp_event_failed', errorFacts(error));
        return events[0]?.index ?? 0;
      }
    }),
  );
  const first = Math.min(...failed);
  return Number.isFinite(first) ? first : undefined;
}
