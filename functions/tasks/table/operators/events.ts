import { EVENTS_PARTITION, SORT_KEYS, SUBSCRIPTION_SHOWN } from '../../attributes.ts';
import type { DynamoDb } from '../../aws/dynamodb.ts';
import { type EventFacts, type EventItems, eventItems, type StoredSubscription } from '../event-items.ts';

/** A subscription without its secrets. Times in ms since the epoch. */
export type SubscriptionRead = Pick<
  StoredSubscription,
  'id' | Exclude<(typeof SUBSCRIPTION_SHOWN)[number], 'taskId'>
> & {
  /** Only if it was asked for: it may hold a key. */
  readonly url?: string;
};

/** How operators read the subscriptions and events of an owner, and end subscriptions. */
export interface OperatorEvents {
  /** All of the owner, also those that are over. */
  subscriptions(owner: string, withUrl: boolean): Promise<readonly SubscriptionRead[]>;
  /** The events of one task that the log of its owner holds. It reads the whole log. */
  told(owner: string, taskId: string): Promise<readonly { readonly event: EventFacts; readonly position: string }[]>;
  readonly end: EventItems['endSubscription'];
}

export function operatorEvents(db: DynamoDb, table: string): OperatorEvents {
  /** The items of the owner whose sort keys begin so, page by page. */
  async function all(owner: string, prefix: string, attributes: readonly string[], more: { taskId?: string } = {}) {
    const filter = more.taskId !== undefined && {
      FilterExpression: '#event.#taskId = :task',
    };
    const names = [...new Set(['owner', 'taskId', ...attributes])];
    const items: Record<string, unknown>[] = [];
    let start: Record<string, unknown> | undefined;
    do {
      const page = await db.query({
        TableName: table,
        KeyConditionExpression: '#owner = :owner AND begins_with(#taskId, :prefix)',
        ...filter,
        ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
        ExpressionAttributeValues: {
          ':owner': EVENTS_PARTITION + owner,
          ':prefix': prefix,
          ...(more.taskId !== undefined && { ':task': more.taskId }),
        },
        ...(start && { ExclusiveStartKey: start }),
      });
      items.push(...(page.Items ?? []));
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
    return items.map(({ taskId, ...item }) => ({ ...item, id: String(taskId).slice(prefix.length) }));
  }

  return {
    async subscriptions(owner, withUrl) {
      const [found, urls] = await Promise.all([
        all(owner, SORT_KEYS.subscription, SUBSCRIPTION_SHOWN),
        withUrl ? all(owner, SORT_KEYS.url, ['taskId', 'url']) : [],
      ]);
      const byId = new Map(urls.map((one) => [one.id, one]));
      return found.map((one) => ({ ...byId.get(one.id), ...one })) as unknown as SubscriptionRead[];
    },
    async told(owner, taskId) {
      const entries = await all(owner, SORT_KEYS.event, ['taskId', 'event'], { taskId });
      return entries.map(({ id, ...entry }) => ({ ...(entry as unknown as { event: EventFacts }), position: id }));
    },
    end: eventItems(db, table).endSubscription,
  };
}
