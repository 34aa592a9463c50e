/** What is shared between who decides that an event is to be sent, and who sends it. Times are in ms since the epoch. */

/** The types of events. */
export const EVENT_NAMES = ['task.finished', 'task.asks'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** The body of a message in the queue of deliveries. Its group is the subscription. */
export interface DeliveryMessage {
  readonly ownerKey: string;
  readonly subscriptionId: string;
  /** When the subscription began. One that begins again has the same id, and gets again what it asks for. */
  readonly createdAt: number;
  readonly eventId: string;
  /** Where the event is in the log of its owner. If its subscription has got all up to there, the message goes on from there. */
  readonly position: string;
  /** How many entries were read since the last pause to find it. @default 0 */
  readonly read?: number;
  /** Not before this time. @default at once */
  readonly notBefore?: number;
}

/** The body of a message that says that a log has new events. Its group is their owner. */
export interface NewEvents {
  readonly ownerKey: string;
}

/** Why a delivery failed, as a client may see it. */
export type DeliveryError =
  | 'connection_refused'
  | 'timeout'
  | 'tls_error'
  | 'http_4xx'
  | 'http_5xx'
  | 'challenge_failed';

/** A subscription as delivery needs it. */
export interface Subscription {
  readonly id: string;
  readonly createdAt: number;
  readonly ownerKey: string;
  readonly name: EventName;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly url: string;
  /** Those that sign now, newest first: two while one replaces the other. */
  readonly secrets: readonly string[];
  /** Nothing is sent after this time. Null: until somebody ends the subscription. */
  readonly refreshBefore: number | null;
  /** Whether the deployment holds events of busy owners. @default true */
  readonly hold?: boolean;
  /** Scopes that the token of the last subscribe had. */
  readonly scopes?: readonly string[];
  /** When the first attempt failed after the last that worked. */
  readonly failedSince?: number;
  readonly lastError?: DeliveryError;
  readonly lastDeliveryAt?: number;
  /** Its receiver took long over the last event, and gets no other one before this time. */
  readonly slowUntil?: number;
  /** The position of the last event that was delivered or given up. A message of this or an earlier one is a repeat. */
  readonly deliveredTo: string;
}

/** A subscription from one `events/subscribe` until it ends. */
export type Begun = Pick<Subscription, 'ownerKey' | 'id' | 'createdAt'>;

export interface Occurrence {
  /** The event as it is posted: `eventId`, `name`, `timestamp`, `data`, `cursor`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** What the scopes of a subscription must cover, each time it is sent. */
  readonly scopes: readonly string[];
}

/** What delivery reads and writes. */
export interface EventsStore {
  /** Strongly consistent. Undefined: it was ended, or has expired. */
  subscription(ownerKey: string, id: string): Promise<Subscription | undefined>;
  /** Undefined: it has expired. */
  occurrence(ownerKey: string, position: string): Promise<Occurrence | undefined>;
  /**
   * Notes that the event at `position`, and all before it, were delivered or given up, and sends the message for the next one. If it
   * rejects, the message of this event has to come again. A subscription that was ended meanwhile stays ended, and one that was
   * begun again knows nothing of it.
   *
   * @param read of the message
   */
  delivered(
    to: Begun,
    at: { readonly position: string; readonly givenUp?: true; readonly answered?: true; readonly slowUntil?: number },
    read?: number,
  ): Promise<void>;
  /** Notes a failed attempt, on the same terms. */
  failed(to: Begun, error: DeliveryError, at: number): Promise<void>;
  /** When the owner last sent a request. Undefined: not for an hour at least. */
  lastRequest(ownerKey: string): Promise<number | undefined>;
}
