import { eventLog } from '../../events/log.ts';
import type { DynamoDb } from '../../tasks/aws/dynamodb.ts';
import { variable } from '../../tasks/aws/env.ts';
import type { SendFifo } from '../../tasks/aws/sqs.ts';
import { setBounded } from '../../tasks/bounded-map.ts';
import { limits } from '../../tasks/limits.ts';
import { errorFacts, logEvent } from '../../tasks/log.ts';
import { type EventItems, eventItems } from '../../tasks/table/events/items.ts';
import type { ServerEvents } from '../context.ts';
import type { EventsContext } from './context.ts';
import { eventMethods } from './methods.ts';

/** MCP Events as they are deployed. Throws, by name, if a variable is missing. */
export function createEvents(db: DynamoDb, env: NodeJS.ProcessEnv): ServerEvents {
  const items = eventItems(db, variable(env, 'TASKS_TABLE'));
  const queue = variable(env, 'EVENTS_QUEUE_URL');
  const kept = Number(variable(env, 'EVENTS_KEPT'));
  const loopback = env.EVENTS_LOOPBACK === 'true';
  let sender: SendFifo | undefined;
  const send: SendFifo = async (messages) => {
    sender ??= (await import('#mcp-task-server/sqs')).fifoSender(queue, { requestTimeout: 3_000, attempts: 3 });
    return sender(messages);
  };
  return serverEvents({
    items,
    log: eventLog({ items, send, now: Date.now, kept }),
    loopback,
    async challenge(receiver) {
      const { challenge } = await import('#mcp-task-server/challenge');
      return challenge(receiver, { loopback });
    },
    seen: lastSeen(items, Date.now),
  });
}

export const serverEvents = (events: EventsContext): ServerEvents => ({
  methods: eventMethods(events),
  async seen(principal, method) {
    // Hosts poll and refresh in the background: only a new subscription is part of somebody's turn.
    if (principal.kind === 'verified' && !method.startsWith('events/')) await events.seen(principal.key);
  },
});

/** An hour after the last request the note is of no use. */
const SEEN_KEPT = 3_600_000;

/** Notes requests of owners, of each at most once in a while. Without the note, an event may come during a turn. */
export function lastSeen({ noteSeen }: Pick<EventItems, 'noteSeen'>, now: () => number): EventsContext['seen'] {
  const { every, owners } = limits.mcpEvents.seen;
  const noted = new Map<string, number>();
  return async (owner) => {
    const at = now();
    if (at - (noted.get(owner) ?? Number.NEGATIVE_INFINITY) < every) return;
    setBounded(noted, owner, at, owners);
    await noteSeen(owner, at, Math.ceil((at + SEEN_KEPT) / 1_000)).catch((error: unknown) =>
      logEvent('seen_unnoted', errorFacts(error), 'warn'),
    );
  };
}
