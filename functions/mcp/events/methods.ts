import { matches } from '../../events/match.ts';
import { occurrenceOf } from '../../events/occurrence.ts';
import { positionOf } from '../../events/store.ts';
import { InvalidParams } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { positionText } from '../../tasks/table/events/log.ts';
import type { Method } from '../context.ts';
import type { EventsContext } from './context.ts';
import { declaresEvents, EventsError } from './errors.ts';
import {
  askedOf,
  auditedFacts,
  authorized,
  cursorIn,
  deliveryIn,
  namedIn,
  sinceOf,
  subscriptionId,
} from './request.ts';
import { subscribe } from './subscribe.ts';
import { typesFor } from './types.ts';

/** The methods of MCP Events, by name. `events/stream` is none of them: only `webhook` and `poll` are offered. */
export const eventMethods = (events: EventsContext): ReadonlyMap<string, Method> =>
  new Map([
    ['events/list', list],
    ['events/subscribe', subscribe(events)],
    ['events/unsubscribe', unsubscribe(events)],
    ['events/poll', poll(events)],
  ]);

const list: Method = async ({ wire, params }, { manifest }) => {
  if (params.cursor !== undefined) throw new InvalidParams('cursor is not one of this server');
  return wire.result({ events: typesFor(manifest.tools) });
};

/** Nothing is sent after it, but for an attempt that has begun. */
const unsubscribe =
  (events: EventsContext): Method =>
  async (call, server) => {
    // Whatever the arguments are: the tool that they name may be gone.
    const asked = namedIn(call);
    const { url } = deliveryIn(call);
    if (typeof url !== 'string') throw new InvalidParams('delivery.url must be a string');
    const now = server.now();
    const id = subscriptionId(asked, url);
    const found = await events.items.subscription(asked.owner, id);
    const ended = found !== undefined && (await events.items.endSubscription(asked.owner, found));
    if (ended && found.refreshBefore > now) server.audit('unsubscribed', auditedFacts(asked, id));
    else if (declaresEvents(call)) throw new EventsError(call, 'NotFound', { kind: 'subscription' });
    return call.wire.result({});
  };

/** What happened after the cursor. Without one, nothing yet: the client gets the cursor of now. */
const poll =
  (events: EventsContext): Method =>
  async (call, server) => {
    const asked = askedOf(call, server);
    await server.pollLimit.countList(call.principal, server);
    const { maxEvents = limits.mcpEvents.poll } = call.params;
    if (typeof maxEvents !== 'number' || !(maxEvents >= 1)) throw new InvalidParams('maxEvents must be 1 or more');
    const cursor = cursorIn(call);
    const since = sinceOf(call, server.now());
    await authorized(asked, call, server);
    const answer = (position: number, more: object) =>
      call.wire.result({
        events: [],
        truncated: false,
        hasMore: false,
        nextPollMs: limits.mcpEvents.nextPoll,
        ...more,
        cursor: positionText(position),
      });
    if (cursor === null) return answer((await events.log.begin(asked.owner)).last, {});
    const most = Math.min(Math.floor(maxEvents), limits.mcpEvents.poll);
    const page = await events.log.read(asked.owner, positionOf(cursor), most);
    const found = page.entries.filter(({ event, start }) => start === undefined && event && matches(event, asked));
    const fresh = found.flatMap(({ event, summary }) =>
      event !== undefined && event.at >= since ? [occurrenceOf(event, summary)] : [],
    );
    return answer(page.entries.at(-1)?.position ?? page.after, {
      events: fresh,
      truncated: page.truncated || fresh.length < found.length,
      hasMore: page.entries.length === most,
    });
  };
