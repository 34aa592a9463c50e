import { AwsError } from '../aws-error.ts';
import type { QueueResource } from '../template/specs.ts';
import type { Operations } from '../wire/types.ts';
import { readSendMessage } from './send.ts';

/** A message in a queue of the template. Only tests receive it. */
export interface QueueMessage {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

export type Queues = ReturnType<typeof createQueues>;

export function createQueues(resources: readonly QueueResource[], now: () => number) {
  const messages = new Map(resources.map(({ name }): [string, QueueMessage[]] => [name, []]));
  const names = new Map(resources.map(({ arn, name }) => [arn, name]));
  const find = (name: string): QueueMessage[] => {
    const queue = messages.get(name);
    if (!queue) throw new AwsError('QueueDoesNotExist', 'The specified queue does not exist.');
    return queue;
  };
  const operations: Operations = {
    async SendMessage(input) {
      const { queue, body, attributes, delayMs, answer } = readSendMessage(input);
      find(queue).push({ body, attributes, sentAt: now() + delayMs });
      return answer;
    },
    async GetQueueAttributes({ QueueUrl }) {
      const queue = find(String(QueueUrl).split('/').at(-1) ?? '');
      return { Attributes: { ApproximateNumberOfMessages: String(queue.length) } };
    },
  };
  return {
    operations,
    /** The messages by the name of their queue, the oldest first. */
    messages: messages as ReadonlyMap<string, readonly QueueMessage[]>,
    send(arn: string, body: unknown, attributes: QueueMessage['attributes'] = {}): void {
      const queue = messages.get(names.get(arn) ?? '');
      if (!queue) throw new Error(`there is no queue ${arn}`);
      queue.push({ body: JSON.stringify(body), attributes, sentAt: now() });
    },
  };
}
