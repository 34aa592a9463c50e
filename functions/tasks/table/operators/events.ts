import { EVENTS_PARTITION, KEY, LOG_PARTITION, SORT_KEYS, SUBSCRIPTION_SHOWN } from '../../attributes.ts';
import type { DynamoDb, QueryInput } from '../../aws/dynamodb.ts';
import { type EventItems, eventItems, subscriptionsIn } from '../events/items.ts';
import type { EventFacts } from '../events/log.ts';
import type { StoredSubscription } from '../events/subscription.ts';

/** A subscription without its secrets. Times in ms since the epoch. */
export type SubscriptionRead = Pick<StoredSubscription, 'id' | (typeof SUBSCRIPTION_SHOWN)[number]> & {
  /** Only if it was asked for: it may hold a key. */
  readonly url?: string;
};

/** The events of one task among the newest 500 entries of the log of its owner. */
export interface TaskEvents {
  readonly events: readonly { readonly event: EventFacts; readonly position: string }[];
  /** The position of the newest entry that was not read. Undefined: the log has no older ones. */
  readonly unread?: string;
}

/** An owner makes its log as long as it likes, and operators read it with each task. */
const NEWEST = 500;

/** How operators read the subscriptions and events of an owner, and end subscriptions. */
export interface OperatorEvents {
  /** All of the owner, also those that are over, without their URLs. */
  subscriptions(owner: string): Promise<readonly SubscriptionRead[]>;
  /** Where a subscription goes. URLs are kept longer than their subscriptions, so they are not read all at once. */
  url(owner: string, id: string): Promise<string | undefined>;
  eventsOf(owner: string, taskId: string): Promise<TaskEvents>;
  readonly end: EventItems['endSubscription'];
}

export function operatorEvents(db: DynamoDb, table: string): OperatorEvents {
  /** For the items of a partition whose sort keys begin so. */
  const queryOf = (partition: string, prefix: string, attributes: readonly string[]): QueryInput => ({
    TableName: table,
    KeyConditionExpression: '#owner = :owner AND begins_with(#sort, :prefix)',
    ProjectionExpression: ['sort', ...attributes].map((name) => `#${name}`).join(', '),
    ExpressionAttributeNames: {
      ...Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
      '#owner': KEY.partition,
      '#sort': KEY.sort,
    },
    ExpressionAttributeValues: { ':owner': partition, ':prefix': prefix },
  });
  return {
    async subscriptions(owner) {
      const query = queryOf(EVENTS_PARTITION + owner, SORT_KEYS.subscription, SUBSCRIPTION_SHOWN);
      return subscriptionsIn<SubscriptionRead>(db, query);
    },
    async url(owner, id) {
      const { Items = [] } = await db.query(queryOf(EVENTS_PARTITION + owner, SORT_KEYS.url + id, ['url']));
      return Items[0]?.url as string | undefined;
    },
    async eventsOf(owner, taskId) {
      const query = queryOf(LOG_PARTITION + owner, SORT_KEYS.event, ['event']);
      const { Items = [], LastEvaluatedKey } = await db.query({
        ...query,
        FilterExpression: '#event.taskId = :task',
        ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ':task': taskId },
        ScanIndexForward: false,
        // A query that reads as many entries as there are does not know that it has read all.
        Limit: NEWEST + 1,
      });
      const positionOf = (item: Readonly<Record<string, unknown>>) =>
        String(item[KEY.sort]).slice(SORT_KEYS.event.length);
      const unread = LastEvaluatedKey && positionOf(LastEvaluatedKey);
      const events = Items.map((item) => ({ event: item.event as EventFacts, position: positionOf(item) }))
        .filter(({ position }) => position !== unread)
        .toReversed();
      return { events, ...(unread && { unread }) };
    },
    end: eventItems(db, table).endSubscription,
  };
}
