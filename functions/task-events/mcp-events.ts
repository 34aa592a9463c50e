import { factsOf } from '../events/facts.ts';
import { summaryOf } from '../events/summary.ts';
import { limits } from '../tasks/limits.ts';
import { errorFacts, logEvent } from '../tasks/log.ts';
import type { Status } from '../tasks/record.ts';
import type { EventFacts } from '../tasks/table/events/log.ts';
import type { TaskChange } from './changes.ts';
import type { Image } from './snapshot.ts';

/** Puts events into the log of their owner, and one message into the queue. At most `limits.mcpEvents.together`. */
export type PublishEvents = (owner: string, events: readonly EventAndSummary[]) => Promise<unknown>;
interface EventAndSummary {
  readonly facts: EventFacts;
  readonly summary: string | undefined;
}

const { together } = limits.mcpEvents;

/** What a record of the stream publishes. */
export interface Published {
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
  const all = records.flatMap(({ changes, summary }, index) =>
    changes.flatMap(({ task, moved }) => {
      // Only a verified caller can have subscribed.
      const facts = moved && task.owner.startsWith('owner#') ? factsOf(task, moved.to) : undefined;
      return facts === undefined ? [] : [{ owner: task.owner, facts, summary, index }];
    }),
  );
  const failed = await Promise.all(
    [...Map.groupBy(all, ({ owner }) => owner)].map(async ([owner, events]) => {
      for (let from = 0; from < events.length; from += together) {
        try {
          await publishEvents(owner, events.slice(from, from + together));
        } catch (error) {
          logEvent('mcp_event_failed', errorFacts(error));
          return events[from]?.index ?? 0;
        }
      }
      return Number.POSITIVE_INFINITY;
    }),
  );
  const first = Math.min(...failed);
  return Number.isFinite(first) ? first : undefined;
}
