import type { QueueResource } from '../template/specs.ts';

/** A message in a queue of the template. Only tests receive it. */
export interface QueueMessage {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

export interface Queues {
  /** The messages by the name of their queue, the oldest first. */
  readonly messages: ReadonlyMap<string, readonly QueueMessage[]>;
  send(arn: string, body: unknown, attributes?: QueueMessage['attributes']): void;
}

/** The queues, in memory. */
export function createQueues(resources: readonly QueueResource[], now: () => number): Queues {
  const messages = new Map(resources.map(({ name }): [string, QueueMessage[]] => [name, []]));
  const names = new Map(resources.map(({ arn, name }) => [arn, name]));
  return {
    messages,
    send(arn, body, attributes = {}) {
      const queue = messages.get(names.get(arn) ?? '');
      if (!queue) throw new Error(`there is no queue ${arn}`);
      queue.push({ body: JSON.stringify(body), attributes, sentAt: now() });
    },
  };
}
