import { factsOfRecord } from '../../events/facts.ts';
import { matches } from '../../events/match.ts';
import { callbackUrl } from '../../events/post/url.ts';
import { positionOf } from '../../events/store.ts';
import { summaryOf } from '../../events/summary.ts';
import { InvalidParams, TooManyStreams } from '../../tasks/errors.ts';
import { limits } from '../../tasks/limits.ts';
import { logUnexpected } from '../../tasks/log.ts';
import { type LogEntry, positionText } from '../../tasks/table/events/log.ts';
import type {
  MatchedSubscription,
  NewSubscription,
  StoredSubscription,
} from '../../tasks/table/events/subscription.ts';
import type { Call, Method, ServerContext } from '../context.ts';
import { readTask } from '../read/read.ts';
import { openStream } from '../stream/held.ts';
import type { EventsContext } from './context.ts';
import { EventsError } from './errors.ts';
import {
  type Asked,
  askedOf,
  auditedFacts,
  authorized,
  cursorIn,
  deliveryIn,
  endpointOf,
  sinceOf,
  subscriptionId,
} from './request.ts';

/** The most live subscriptions of an owner. */
const MOST = limits.mcpEvents.subscriptions;
/** The most lapsed subscriptions that a new one deletes. */
const LAPSED = 5;
const ENDED = 'The subscription was ended meanwhile: subscribe again';

/** How events reach the caller, and for how long. */
interface Wanted {
  readonly url: string;
  readonly secret: string;
  /** In ms since the epoch. */
  readonly refreshBefore: number;
  readonly cursor: string | null;
  readonly since: number;
}

/**
 * Begins a subscription, or refreshes the one that the caller has for this URL, name and arguments. The checks come in the order
 * of H-06; the last one calls the receiver, if no live subscription of the caller goes there.
 */
export const subscribe =
  (events: EventsContext): Method =>
  async (call, server) => {
    const asked = askedOf(call, server);
    await server.pollLimit.countList(call.principal, server);
    const wanted = wantedOf(call, server.now(), events);
    await authorized(asked, call, server);
    const id = subscriptionId(asked, wanted.url);
    const outside = { events, server, call };
    const before = await events.items.subscription(asked.owner, id);
    const lives = before !== undefined && before.refreshBefore > server.now();
    if (lives && before.started !== undefined) {
      return call.wire.result(await refresh(before, asked, wanted, outside));
    }
    // It may wait ten seconds for its receiver, and then for its turn in the log.
    const close = await openStream(call.principal, server);
    if (close === undefined) throw new TooManyStreams(server.manifest.maxStreams);
    try {
      if (lives) return call.wire.result(await refresh(before, asked, wanted, outside));
      const { url, secret } = wanted;
      const endpoint = endpointOf(url);
      const { live, lapsed } = await subscriptionsOf(asked.owner, outside);
      if (live.length >= MOST) throw exhausted(call);
      if (!live.some((one) => one.endpoint === endpoint)) {
        const reason = await events.challenge({ url, secret, subscriptionId: id });
        if (reason !== undefined) throw new EventsError(call, 'CallbackEndpointError', { reason });
      }
      await deleteSome(lapsed, asked.owner, server.now(), events);
      return call.wire.result(await begin(id, asked, wanted, outside));
    } finally {
      await close();
    }
  };

async function subscriptionsOf(owner: string, { events, server }: Outside) {
  const all = await events.items.matched(owner);
  const live = all.filter(({ refreshBefore }) => refreshBefore > server.now());
  return { live, lapsed: all.filter((one) => !live.includes(one)) };
}

const exhausted = (call: Call) => new EventsError(call, 'ResourceExhausted', { limit: 'subscriptions', max: MOST });

/** DynamoDB may delete them days later, and each event reads all there are. The next subscription deletes what remains. */
const deleteSome = (lapsed: readonly MatchedSubscription[], owner: string, now: number, { items }: EventsContext) =>
  Promise.all(
    lapsed
      .slice(0, LAPSED)
      .map((one) =>
        items.endSubscription(owner, one, now).catch((error: unknown) => logUnexpected(error, 'lapsed subscription')),
      ),
  );

interface Outside {
  readonly events: EventsContext;
  readonly server: ServerContext;
  readonly call: Call;
}

/** Nothing that happens from here on is missed: the log is there before the task is read, and the subscription starts in the log. */
async function begin(id: string, asked: Asked, wanted: Wanted, outside: Outside) {
  const { events, server } = outside;
  const { owner, name, arguments: args, scopes } = asked;
  const { url, secret, refreshBefore, cursor } = wanted;
  const { log, items } = events;
  // The turn of the client in which it subscribes goes on.
  await events.seen(owner);
  const { last } = await log.begin(owner);
  const page = await log.read(owner, cursor === null ? last : positionOf(cursor), 1);
  const createdAt = server.now();
  const subscription: NewSubscription = {
    id,
    createdAt,
    endpoint: endpointOf(url),
    name,
    arguments: args,
    scopes,
    url,
    secrets: [secret],
    refreshBefore,
    deliveredTo: positionText(page.after),
    lastMatched: positionText(page.after),
    truncated: page.truncated,
    expiresAt: Math.ceil(refreshBefore / 1_000),
  };
  if (!(await items.createSubscription(owner, subscription, createdAt))) {
    // Another request of the client came first.
    const first = await items.subscription(owner, id);
    if (first === undefined) throw new InvalidParams(ENDED);
    return refresh(first, asked, wanted, outside);
  }
  return start(subscription, last, asked, wanted, outside);
}

/**
 * Gives it a start in the log, which says what it misses.
 *
 * @param last the position of the last entry of the log
 */
async function start(
  subscription: StoredSubscription,
  last: number,
  asked: Asked,
  { cursor, since }: Wanted,
  outside: Outside,
) {
  const { events, server, call } = outside;
  const { id, createdAt, deliveredTo } = subscription;
  // Many may have been created at the same time: each sees itself and all before it.
  if ((await subscriptionsOf(asked.owner, outside)).live.length > MOST) {
    await events.items.endSubscription(asked.owner, subscription);
    throw exhausted(call);
  }
  // However long the log is, a request reads its end only.
  const after = Math.max(positionOf(deliveredTo), last - limits.mcpEvents.replay);
  const truncated = subscription.truncated || after > positionOf(deliveredTo);
  const before = cursor === null || truncated ? await happened(asked, outside) : {};
  const first = { id, createdAt, after, since };
  await events.log.append(asked.owner, { at: server.now(), start: first, ...before });
  server.audit('subscribed', auditedFacts(asked, id));
  const started = await events.items.subscription(asked.owner, id);
  if (started === undefined) throw new InvalidParams(ENDED);
  return answer({ ...started, deliveredTo: positionText(after) }, started.truncated);
}

/** The event of a task that has ended before, or asks: a client may subscribe after it created the task. */
async function happened(asked: Asked, { call, server }: Outside): Promise<Pick<LogEntry, 'event' | 'summary'>> {
  const { taskId } = asked.arguments;
  if (taskId === undefined) return {};
  const record = await readTask(call.principal, taskId, server);
  const event = factsOfRecord(record);
  if (event === undefined || !matches(event, asked)) return {};
  const summary = server.tools.get(record.tool)?.entry.eventSummary ? summaryOf(record) : undefined;
  return { event, ...(summary !== undefined && { summary }) };
}

/** While a subscription lives, its cursor counts for nothing: it gets all events in their order. */
async function refresh(before: StoredSubscription, asked: Asked, wanted: Wanted, outside: Outside) {
  const { events, server } = outside;
  const { id, secrets, started, lastDeliveryAt, lastError, failedSince } = before;
  const { url, secret, refreshBefore } = wanted;
  const now = server.now();
  const isNew = secret !== secrets[0];
  const hasOthers = sorted(asked.scopes) !== sorted(before.scopes);
  const others = [...(isNew ? ['secret' as const] : []), ...(hasOthers ? ['scopes' as const] : [])];
  await events.items.keepUrl(asked.owner, id, url, now);
  const set = {
    refreshBefore,
    scopes: asked.scopes,
    expiresAt: Math.ceil(refreshBefore / 1_000),
    ...(isNew && { secrets: [secret, ...secrets].slice(0, 2), secretUntil: now + limits.mcpEvents.oldSecret }),
  };
  // Once it is over, its message is dropped: nothing would send it again for an hour.
  const changed = await events.items.changeSubscription(asked.owner, before, set, server.now());
  if (!changed) throw new InvalidParams(ENDED);
  const { last } = await events.log.begin(asked.owner);
  // The request that began it may have died before its start.
  if (started === undefined) return start(before, last, asked, wanted, outside);
  if (others.length > 0) server.audit('renewed', { ...auditedFacts(asked, id), changed: others });
  await events.log.revive(asked.owner, { ...before, scopes: asked.scopes });
  const deliveryStatus = {
    active: true,
    lastDeliveryAt: lastDeliveryAt === undefined ? null : dateTime(lastDeliveryAt),
    lastError: lastError ?? null,
    ...(failedSince !== undefined && { failedSince: dateTime(failedSince) }),
  };
  return { ...answer({ ...before, refreshBefore }, false), deliveryStatus };
}

const sorted = (scopes: readonly string[]): string => scopes.toSorted().join(' ');

const answer = ({ id, refreshBefore, deliveredTo }: StoredSubscription, truncated: boolean) => ({
  id,
  refreshBefore: dateTime(refreshBefore),
  cursor: deliveredTo,
  truncated,
});

const dateTime = (at: number): string => new Date(at).toISOString();

function wantedOf(call: Call, now: number, { loopback }: EventsContext): Wanted {
  const { url, secret } = deliveryIn(call);
  if (typeof url !== 'string' || callbackUrl(url, { loopback }) === undefined) {
    throw new InvalidParams('delivery.url must be an absolute https URL without user info');
  }
  // A request leaves it out, so it only makes more subscriptions of one receiver.
  if (url.includes('#')) throw new InvalidParams('delivery.url may have no fragment');
  if (Buffer.byteLength(url) > limits.mcpEvents.url) {
    throw new InvalidParams(`delivery.url may have ${limits.mcpEvents.url} bytes at most`);
  }
  return {
    url,
    secret: secretOf(secret),
    refreshBefore: now + grantOf(call),
    cursor: cursorIn(call),
    since: sinceOf(call, now),
  };
}

/** With its padding, which some clients leave out. */
function secretOf(secret: unknown): string {
  const [, text = ''] = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(String(secret)) ?? [];
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length < 24 || bytes.length > 64) {
    throw new InvalidParams('delivery.secret must be whsec_ and 24 to 64 bytes in base64');
  }
  return `whsec_${bytes.toString('base64')}`;
}

/** For how long a subscription is granted, in ms. A wish is never an error. */
function grantOf({ params: { ttlMs } }: Call): number {
  const { min, max, default: usual } = limits.mcpEvents.ttl;
  if (ttlMs === null) return max;
  if (ttlMs === undefined) return usual;
  if (typeof ttlMs !== 'number') throw new InvalidParams('ttlMs must be a number of ms or null');
  return Math.min(max, Math.max(min, ttlMs));
}
