/** A message in a queue of the template. Only tests receive it. */
export interface QueueMessage {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}
