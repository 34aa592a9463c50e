/** Names one that was begun: one that is begun again has the same id. */
export type Begun = Pick<MatchedSubscription, 'id' | 'createdAt'>;

export interface MatchedSubscription {
  readonly id: string;
  readonly createdAt: number;
  /** A hash of its URL, whose receiver has answered a challenge. */
  readonly endpoint: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The scopes that the token of its last `events/subscribe` had. */
  readonly scopes: readonly string[];
  readonly refreshBefore: number;
  /** The position of its start in the log: events after that are sent. */
  readonly started?: string;
  /** The id of the event that it gets by its start. Empty: none. */
  readonly startEvent?: string;
  /** The position after which the entries begin that moved `lastMatched`. */
  readonly matchedFrom?: string;
}

/** Positions of entries that are for a subscription. */
export interface Matched {
  readonly from: string;
  readonly last: string;
}

export interface StoredSubscription extends MatchedSubscription {
  /** Newest first. */
  readonly secrets: readonly string[];
  /** Until when the second one signs. */
  readonly secretUntil?: number | undefined;
  /** All up to this position was delivered, given up, or not for it. */
  readonly deliveredTo: string;
  /** The last entry that is for it. While that is after `deliveredTo`, a message for it is under way. */
  readonly lastMatched: string;
  /** What `lastMatched` was before the entries after `matchedFrom`. */
  readonly matchedBefore?: string;
  /** It gets no older events from before its start. */
  readonly since?: number;
  /** Not all that it asked for from before its start is there. */
  readonly truncated: boolean;
  readonly failedSince?: number | undefined;
  readonly lastError?: string | undefined;
  readonly lastDeliveryAt?: number | undefined;
  /** Its receiver was slow: the next event waits until then. */
  readonly slowUntil?: number | undefined;
  /** When the last attempt failed, or a message was sent because there was none. */
  readonly triedAt?: number | undefined;
  /** In seconds since the epoch. */
  readonly expiresAt: number;
}

export type NewSubscription = StoredSubscription & { readonly url: string };

/** How a receiver answered an event. */
export interface Taken {
  /** Undefined: it did not take it. */
  readonly at?: number | undefined;
  /** Whether its earlier failures are over. */
  readonly answered?: boolean;
  readonly slowUntil?: number | undefined;
}

export type FirstEvents = Required<
  Pick<StoredSubscription, 'started' | 'startEvent' | 'since' | 'truncated' | 'deliveredTo' | 'lastMatched'>
>;
