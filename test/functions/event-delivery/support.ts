import type { SQSEvent } from 'aws-lambda';
import type { Attempt } from '../../../functions/event-delivery/deliver.ts';
import { handleMessages, type QueueContext, type QueueName } from '../../../functions/event-delivery/handle.ts';
import type { DeliveryError, NewEvents, Occurrence, Subscription } from '../../../functions/events/ports.ts';
import type { Answer, SignedPost } from '../../../functions/events/post/post.ts';

export const T0 = 1_700_000_000_000;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;

export const subscription: Subscription = {
  ...{ id: 'sub_1', ownerKey: 'owner#ann', name: 'task.finished', arguments: {} },
  ...{ url: 'https://receiver.example/hooks', secrets: ['whsec_new', 'whsec_old'], refreshBefore: null },
  ...{ createdAt: T0, scopes: [], deliveredTo: 'p0' },
};
export const occurrence = {
  ...{ eventId: 'evt_1', name: 'task.finished', timestamp: new Date(T0).toISOString() },
  ...{ data: { taskId: 't' }, cursor: 'p1' },
};

/** A delivery whose outside is in memory. Each member can be replaced. */
export function createDelivery(replaced: Partial<QueueContext> = {}) {
  const state = {
    now: T0,
    subscription: subscription as Subscription | undefined,
    occurrence: { body: occurrence, scopes: [] } as Occurrence | undefined,
    lastRequest: undefined as number | undefined,
    /** How often each message was received. */
    receives: 1,
    answer: { status: 204, body: '' } as Answer,
  };
  const posts: SignedPost[] = [];
  const hidden: number[] = [];
  const attempts: Attempt[] = [];
  const failures: (readonly [queue: QueueName, age: number])[] = [];
  const written: (readonly [what: 'delivered' | 'given up' | DeliveryError, at: string | number])[] = [];
  const fannedOut: NewEvents[] = [];
  const context: QueueContext = {
    store: {
      subscription: async () => state.subscription,
      occurrence: async () => state.occurrence,
      delivered: async (_to, { position, givenUp }) =>
        void written.push([givenUp ? 'given up' : 'delivered', position]),
      failed: async (_to, error, at) => void written.push([error, at]),
      lastRequest: async () => state.lastRequest,
    },
    post: async (post) => {
      posts.push(post);
      return state.answer;
    },
    fanOut: async (message) => void fannedOut.push(message),
    hide: async (_queue, _receiptHandle, seconds) => void hidden.push(seconds),
    hold: { quiet: 90 * SECOND, most: 5 * MINUTE },
    now: () => state.now,
    measure: (attempt) => void attempts.push(attempt),
    measureFailure: (queue, age) => void failures.push([queue, age]),
    ...replaced,
  };
  return {
    ...{ state, posts, hidden, attempts, failures, written, fannedOut, context },
    /** Whether each message is done. */
    async receive(...bodies: readonly unknown[]) {
      const messages = bodies.length === 0 ? [message(1)] : bodies;
      const { batchItemFailures } = await handleMessages(batch(messages, T0, state.receives), context);
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      return messages.map((_one, index) => !failed.has(`m${index}`));
    },
  };
}

export const message = (number: number) => ({
  ...{ ownerKey: 'owner#ann', subscriptionId: 'sub_1', createdAt: T0 },
  ...{ eventId: `evt_${number}`, position: `p${number}` },
});

const batch = (messages: readonly unknown[], sentAt: number, receives: number): SQSEvent => ({
  Records: messages.map((one, index) => ({
    ...{ messageId: `m${index}`, receiptHandle: `r${index}`, md5OfBody: '', messageAttributes: {} },
    ...{ eventSource: 'aws:sqs', eventSourceARN: 'arn:aws:sqs:eu-central-1:111122223333:q.fifo', awsRegion: '' },
    body: typeof one === 'string' ? one : JSON.stringify(one),
    attributes: {
      ...{ ApproximateReceiveCount: String(receives), SenderId: '', ApproximateFirstReceiveTimestamp: String(sentAt) },
      ...{ SentTimestamp: String(sentAt), MessageGroupId: 'sub_1' },
    },
  })),
});
