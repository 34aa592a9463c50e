export interface LogHead {
  /** The position of the last entry. */
  readonly last: number;
  /** The last entries, in order. They may not be in the log yet. */
  readonly pending?: readonly LogEntry[];
  /** Names of the last events, newest first. */
  readonly recent: readonly string[];
  /** In seconds since the epoch. */
  readonly expiresAt: number;
}

/** An event, or the start of a subscription. A start may have the event of a task that ended before. */
export interface LogEntry {
  readonly at: number;
  readonly event?: EventFacts;
  /** Of the event, if its tool has `eventSummary`. Beside it, as operators without the right to payloads read `event`. */
  readonly summary?: string;
  readonly start?: SubscriptionStart;
}
export type PlacedEntry = LogEntry & { readonly position: number };
/** One that has no position yet. Its place in the stream is the same each time that it comes, and sorts like the stream. */
export type NewEvent = Omit<LogEntry, 'start'> & { readonly place: string };
/** Which of the two partitions for new events of an owner has one. */
export type NewIn = 'first' | 'second';

/** How far the log has come to the subscriptions. */
export interface FannedOut {
  /** The position up to which each subscription has its entries. */
  readonly last: number;
  /** Names the next message about new events: the queue takes it once. */
  readonly turn: string;
}

export interface SubscriptionStart {
  readonly id: string;
  readonly createdAt: number;
  /** Its events begin after this position. */
  readonly after: number;
  /** It gets no older ones from before its start. */
  readonly since: number;
}

/** What an event says. It has no argument, question, answer or result. */
export interface EventFacts {
  readonly eventId: string;
  readonly name: string;
  readonly at: number;
  readonly taskId: string;
  readonly tool: string;
  readonly createdAt: number;
  readonly status?: string | undefined;
  readonly isError?: true | undefined;
  readonly reason?: string | undefined;
  /** When unanswered questions fail the task. */
  readonly answerBy?: number | undefined;
  /** What a token needs to see this task. */
  readonly scopes?: readonly string[] | undefined;
}

/** A position as clients and messages have it. It sorts like the number. */
export const positionText = (position: number): string => String(position).padStart(16, '0');
