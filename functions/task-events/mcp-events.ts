import { factsOf } from '../events/facts.ts';
import { entriesMessage } from '../events/messages.ts';
import { summaryOf } from '../events/summary.ts';
import type { SendFifo } from '../tasks/aws/sqs.ts';
import { limits } from '../tasks/limits.ts';
import { errorFacts, logEvent } from '../tasks/log.ts';
import type { Status } from '../tasks/record.ts';
import type { EventItems } from '../tasks/table/events/items.ts';
import type { EventFacts } from '../tasks/table/events/log.ts';
import type { TaskChange } from './changes.ts';
import type { Image } from './snapshot.ts';

/** Sends events to the log of their owner, if it has one. At most `limits.mcpEvents.together`. */
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

/**
 * Sends the events of owners that have a log to it, by the queue: an owner that uses up the units of its own partition must not delay
 * the changes of others.
 */
export function sendToLog(items: Pick<EventItems, 'head'>, send: SendFifo): PublishEvents {
  return async (owner, events) => {
    const hasLog = await items.head(owner).then(
      (head) => head !== undefined,
      // Who puts the events into the log reads it, too.
      () => true,
    );
    if (!hasLog) return;
    const entries = events.map(({ facts, summary }) => ({
      at: facts.at,
      event: facts,
      ...(summary !== undefined && { summary }),
    }));
    if ((await send([entriesMessage(owner, entries)])).includes(false)) throw new Error('SQS refused a message');
  };
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
