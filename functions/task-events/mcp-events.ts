import { eventIdOf } from '../events/occurrence.ts';
import { errorFacts, logEvent } from '../tasks/log.ts';
import type { EventFacts } from '../tasks/table/event-items.ts';
import { isTerminal } from '../tasks/transitions/change.ts';
import type { TaskChange } from './changes.ts';

/** Puts an event into the log of its owner, and its messages into the queue of deliveries. */
export type Tell = (owner: string, facts: EventFacts) => Promise<unknown>;

/** What MCP Events says of a change. Undefined: nothing. Only a verified caller can have subscribed. */
export function factsOf({ task, moved }: TaskChange): EventFacts | undefined {
  if (moved === undefined || !task.owner.startsWith('owner#')) return undefined;
  const { taskId, tool, createdAt, updatedAt: at, scopes, isError, reason, deadlineAt: answerBy } = task;
  const facts = { eventId: eventIdOf(moved.id), at, taskId, tool, createdAt, scopes };
  if (moved.to === 'input_required') return { ...facts, name: 'task.asks', answerBy };
  if (!isTerminal(moved.to)) return undefined;
  return { ...facts, name: 'task.finished', status: moved.to, isError: isError || undefined, reason };
}

/**
 * Tells of the changes of records, each owner's in their order. Returns the index of the first record with a change that it
 * could not tell: this one and all later ones come again.
 */
export async function firstUntold(
  records: readonly (readonly TaskChange[])[],
  tell: Tell,
): Promise<number | undefined> {
  const told = records.flatMap((changes, index) =>
    changes.flatMap((change) => {
      const facts = factsOf(change);
      return facts === undefined ? [] : [{ owner: change.task.owner, facts, index }];
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
