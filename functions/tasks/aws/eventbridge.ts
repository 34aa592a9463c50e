import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { type ClientOptions, clientConfig, quiet } from './client.ts';

export type PutEvents = (entries: readonly object[]) => Promise<readonly boolean[]>;

/** Puts up to ten entries on a bus. Returns for each whether it was accepted. */
export function eventPutter(EventBusName: string, options: ClientOptions): PutEvents {
  const client = quiet(new EventBridgeClient(clientConfig(options)));
  return async (entries) => {
    const put = new PutEventsCommand({ Entries: entries.map((entry) => ({ ...entry, EventBusName })) });
    const { Entries = [] } = await client.send(put);
    return Entries.map(({ EventId }) => EventId !== undefined);
  };
}
