export interface LogHead {
  /** The position of the last entry. */
  readonly last: number;
  /** The last entries, in order. They are not in the log before a message that brings them is in the queue. */
  readonly pending?: readonly LogEntry[];
  /** No message about new events is under way. Undefined: one may be. */
  readonly rests?: true;
  /** The pending entries are the first ones since then: they need a message. */
  readonly isFirst?: true;
  /** Names of the last entries, newest first, by their events; empty for other entries. */
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
