import { matches } from '../../events/match.ts';
import type { TaskKey } from '../../tasks/record.ts';
import type { SubscriptionRead } from '../../tasks/table/operators/events.ts';
import type { OperatorContext } from '../context.ts';
import { NotAllowed } from '../errors.ts';
import { isDenied } from '../runs.ts';

/** One event of a task for one subscription. Times in ms since the epoch. */
export interface Delivery {
  readonly event: string;
  readonly eventId: string;
  readonly subscription: string;
  /** `done`: its receiver has it, or refused it for good. `waits`: it is held, or behind another event. */
  readonly state: 'done' | 'waits' | 'fails';
  readonly failedSince?: number;
  readonly lastError?: string;
}

export interface Deliveries {
  readonly deliveries: readonly Delivery[];
  /** The log has older entries, which are not read. These subscriptions fail, maybe at one of them. Undefined: all was read. */
  readonly unread?: readonly string[];
}

/** Whether the server has MCP Events. */
const hasEvents = ({ server }: OperatorContext): boolean => server.logGroups.deliveries !== undefined;

/**
 * The live subscriptions of an owner. Throws NotAllowed.
 *
 * @param payload with the URLs, but for their queries, which mostly are secrets
 */
export async function subscriptionsOf(
  owner: string,
  payload: boolean,
  context: OperatorContext,
): Promise<readonly SubscriptionRead[]> {
  if (!hasEvents(context)) return [];
  try {
    const all = await context.events.subscriptions(owner);
    const live = all.filter(({ refreshBefore }) => refreshBefore > context.now());
    if (!payload) return live;
    const urls = await Promise.all(live.map(({ id }) => context.events.url(owner, id)));
    return live.map((one, n) => ({ ...one, ...(urls[n] !== undefined && { url: urls[n].replace(/[?#].*$/, '') }) }));
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new NotAllowed(`The subscriptions of ${owner}`, payload ? 'payload' : 'read', 'read them');
  }
}

/** Where the events of a task are for each live subscription of its owner. Empty: no subscription wants one that was read. */
export async function deliveriesOf({ owner, taskId }: TaskKey, context: OperatorContext): Promise<Deliveries> {
  const subscriptions = owner.startsWith('owner#') ? await subscriptionsOf(owner, false, context) : [];
  if (subscriptions.length === 0) return { deliveries: [] };
  const { events, unread } = await context.events.eventsOf(owner, taskId);
  const deliveries = events.flatMap(({ event, position }) =>
    subscriptions.flatMap((one): Delivery[] => {
      // A later one with this task gets its event, too.
      const isLater = one.createdAt > event.at && one.arguments.taskId !== taskId;
      if (isLater || !matches(event, one)) return [];
      const facts = { event: event.name, eventId: event.eventId, subscription: one.id };
      if (one.deliveredTo >= position) return [{ ...facts, state: 'done' }];
      const { failedSince, lastError } = one;
      if (failedSince === undefined) return [{ ...facts, state: 'waits' }];
      return [{ ...facts, state: 'fails', failedSince, ...(lastError !== undefined && { lastError }) }];
    }),
  );
  if (unread === undefined) return { deliveries };
  const behind = subscriptions.filter((one) => one.failedSince !== undefined && one.deliveredTo < unread);
  return { deliveries, unread: behind.map(({ id }) => id) };
}
