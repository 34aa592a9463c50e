import type { EventLog } from '../../events/log.ts';
import type { DeliveryError } from '../../events/ports.ts';
import type { EventItems } from '../../tasks/table/events/items.ts';

/** What the methods of MCP Events need beside what all methods have. */
export interface EventsContext {
  readonly items: EventItems;
  readonly log: EventLog;
  /** Asks a receiver whether it wants events. Returns why not. */
  readonly challenge: (receiver: {
    readonly url: string;
    readonly secret: string;
    readonly subscriptionId: string;
  }) => Promise<DeliveryError | undefined>;
  /** Whether receivers on this machine are allowed, also by `http`. */
  readonly loopback: boolean;
  /** Notes that the owner has sent a request. */
  readonly seen: (owner: string) => Promise<void>;
}
