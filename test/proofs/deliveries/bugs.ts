import { handleMessages, type QueueContext } from '../../../functions/event-delivery/handle.ts';
import type { EventItems } from '../../../functions/tasks/table/events/items.ts';
import type { Kind } from './judge.ts';

export interface Bug {
  /** What schedules must find. */
  readonly kind?: Kind;
  /** @param pause for some time */
  readonly items?: (real: EventItems, pause: () => Promise<void>) => EventItems;
  readonly context?: (real: QueueContext) => QueueContext;
  readonly handle?: typeof handleMessages;
  /** The group of a message, and the id by which the queue knows a repeat. */
  readonly group?: (subscriptionId: string, eventId: string) => string;
  readonly repeat?: (subscriptionId: string, eventId: string) => string;
}

/** Mistakes of a sender. Each must be found. */
export const bugs = {
  'a message is done before its attempt': {
    kind: 'lost',
    handle: async (event, context) => {
      await handleMessages(event, context);
      return { batchItemFailures: [] };
    },
  },
  'a sender gives up after five attempts': {
    kind: 'lost',
    handle: async (event, context) => {
      const last = Number(event.Records[0]?.attributes.ApproximateReceiveCount) >= 5;
      const answer = await handleMessages(event, context);
      return last ? { batchItemFailures: [] } : answer;
    },
  },
  'the queue takes the event of a subscription that is begun again for a repeat': {
    kind: 'lost',
    repeat: (subscriptionId, eventId) => subscriptionId + eventId,
  },
  'a message of an earlier subscription is sent': {
    kind: 'lost',
    handle: async (event, context) => {
      const [record] = event.Records;
      if (record === undefined) return { batchItemFailures: [] };
      const { ownerKey, subscriptionId, ...message } = JSON.parse(record.body);
      const { createdAt } =
        (await context.store.subscription(ownerKey, subscriptionId).catch(() => undefined)) ?? message;
      const body = JSON.stringify({ ...message, ownerKey, subscriptionId, createdAt });
      return handleMessages({ Records: [{ ...record, body }] }, context);
    },
  },
  'an attempt for an earlier subscription counts for a later one': {
    kind: 'lost',
    items: (real) => ({
      ...real,
      async delivered(owner, { id, createdAt }, position, taken) {
        const now = (await real.subscription(owner, id))?.createdAt ?? createdAt;
        return real.delivered(owner, { id, createdAt: now }, position, taken);
      },
    }),
  },
  'a 503 is final': { kind: 'lost', context: answering((status) => (status === 503 ? 410 : status)) },
  'a redirect is a success': { kind: 'lost', context: answering((status) => (status === 302 ? 204 : status)) },
  'a refusal is not final': { kind: 'after refusal', context: answering((status) => (status === 410 ? 500 : status)) },
  'each attempt has another id': {
    kind: 'doubled',
    context: (real) => {
      let attempts = 0;
      return { ...real, post: (post) => real.post({ ...post, webhookId: `${post.webhookId}_${attempts++}` }) };
    },
  },
  'the body says when it was sent': {
    kind: 'doubled',
    context: (real) => ({
      ...real,
      post: (post) => real.post({ ...post, body: post.body.replace('{', `{"sentAt":${real.now()},`) }),
    }),
  },
  'the end of a subscription is not checked': {
    kind: 'after its end',
    items: (real) => ({
      ...real,
      async subscription(owner, id) {
        const found = await real.subscription(owner, id);
        return found && { ...found, refreshBefore: Number.POSITIVE_INFINITY };
      },
    }),
  },
  'a failed event waits for a day': {
    kind: 'too late',
    context: (real) => ({ ...real, hide: (queue, receipt) => real.hide(queue, receipt, 43_200) }),
  },
  'each event has its message, whatever is under way': {
    kind: 'too many messages',
    items: (real) => ({
      ...real,
      async match(owner, to, its) {
        const found = await real.match(owner, to, its);
        return found && { ...found, matchedBefore: '' };
      },
    }),
  },
  'each event has its message and group, and none is a repeat': {
    kind: 'out of order',
    group: (subscriptionId, eventId) => subscriptionId + eventId,
    items: (real) => ({
      ...real,
      async match(owner, to, its) {
        const found = await real.match(owner, to, its);
        return found && { ...found, matchedBefore: '', deliveredTo: '' };
      },
    }),
    context: (real) => {
      const subscription: typeof real.store.subscription = async (...of) => {
        const found = await real.store.subscription(...of);
        return found && { ...found, deliveredTo: '' };
      };
      return { ...real, store: { ...real.store, subscription } };
    },
  },
  'an entry that is settled again has its message, whatever is under way': {
    kind: 'lost',
    items: (real) => ({
      ...real,
      async match(owner, to, its) {
        const before = await real.subscription(owner, to.id);
        const found = await real.match(owner, to, its);
        return found && before?.lastMatched === its.last ? { ...found, matchedBefore: '' } : found;
      },
    }),
  },
  'events that are noted again after a death count as later ones': {
    kind: 'lost',
    items: (real) => ({
      ...real,
      match: (owner, { matchedFrom: _unread, ...to }, its) => real.match(owner, to, its),
    }),
  },
  'a log is noted as fanned out before it is': {
    kind: 'lost',
    items: (real) => ({
      ...real,
      async matched(owner) {
        const { last = 0 } = (await real.head(owner)) ?? {};
        await real.noteFannedOut(owner, { last }, 2_000_000_000);
        return real.matched(owner);
      },
    }),
  },
  'a message does not look for more events after it noted its turn': {
    kind: 'lost',
    items: (real) => ({
      ...real,
      newEvents: async (owner, most, of) => (most === 1 ? [] : real.newEvents(owner, most, of)),
    }),
  },
  'new events are deleted before they are in the log': {
    kind: 'lost',
    items: (real) => ({
      ...real,
      async newEvents(owner, most, of) {
        const found = await real.newEvents(owner, most, of);
        if (most > 1) for (const { place } of found) await real.deleteNew(owner, place, of);
        return found;
      },
    }),
  },
  'a message reads the partitions of new events once each': {
    kind: 'out of order',
    items: (real, pause) => {
      let isSecond = false;
      return {
        ...real,
        async newEvents(owner, most, of) {
          if (most === 1) return real.newEvents(owner, most, of);
          const isAgain = isSecond && of === 'first';
          if (of === 'second') await pause();
          const found = isAgain ? [] : await real.newEvents(owner, most, of);
          isSecond = of === 'second' && found.length > 0;
          return found;
        },
      };
    },
  },
  'the log decides by what it read before it noted its entry': {
    kind: 'lost',
    items: (real, pause) => ({
      ...real,
      async match(owner, to, its) {
        const before = await real.subscription(owner, to.id);
        await pause();
        const found = await real.match(owner, to, its);
        return found && before && { ...found, deliveredTo: before.deliveredTo };
      },
    }),
  },
  'a sender looks for the next event before it notes the delivery': {
    kind: 'lost',
    items: (real, pause) => ({
      ...real,
      async delivered(owner, to, position, at) {
        const before = await real.subscription(owner, to.id);
        await pause();
        const found = await real.delivered(owner, to, position, at);
        return found && before && { ...found, lastMatched: before.lastMatched };
      },
    }),
  },
  'a repeat sends no next message': {
    kind: 'lost',
    items: (real) => ({
      ...real,
      async delivered(owner, to, position, at) {
        const before = await real.subscription(owner, to.id);
        const found = await real.delivered(owner, to, position, at);
        return before !== undefined && before.deliveredTo >= position ? undefined : found;
      },
    }),
  },
  'a message is done though its delivery could not be noted': {
    kind: 'lost',
    context: (real) => {
      const delivered: typeof real.store.delivered = (...given) => real.store.delivered(...given).catch(() => {});
      return { ...real, store: { ...real.store, delivered } };
    },
  },
  'nothing is held': { kind: 'not held', context: (real) => ({ ...real, hold: undefined }) },
} as const satisfies Readonly<Record<string, Bug>>;

export type BugName = keyof typeof bugs;

function answering(change: (status: number) => number): NonNullable<Bug['context']> {
  return (real) => ({
    ...real,
    async post(post) {
      const answer = await real.post(post);
      return 'error' in answer ? answer : { ...answer, status: change(answer.status) };
    },
  });
}
