import { AwsError } from '../aws-error.ts';
import { type JsonObject, stringOf } from '../json.ts';
import type { QueueResource } from '../template/specs.ts';
import type { Operations } from '../wire/types.ts';
import { createFifoQueue, type FifoOptions, type FifoQueue } from './fifo/queue.ts';
import { fifoOperations, sendMessage } from './fifo/requests.ts';
import type { FifoQueueResource } from './fifo/resources.ts';
import { sendMessageBatch } from './fifo/send-batch.ts';
import type { QueueMessage } from './message.ts';
import { missing, readSendMessage, refuse } from './send.ts';

export interface QueueResources {
  readonly standard: readonly QueueResource[];
  readonly fifo?: readonly FifoQueueResource[];
}

export type Queues = ReturnType<typeof createQueues>;

/** The queues of a template. Messages of standard queues stay in memory, and no client receives them. */
export function createQueues({ standard, fifo = [] }: QueueResources, options: FifoOptions) {
  const { now } = options;
  const kept = new Map(standard.map(({ name }): [string, QueueMessage[]] => [name, []]));
  const names = new Map(standard.map(({ arn, name }) => [arn, name]));
  const fifos = new Map(
    fifo.map((resource): [string, FifoQueue] => [resource.name, createFifoQueue(resource, options)]),
  );
  const queueOf = ({ QueueUrl }: JsonObject): QueueMessage[] | FifoQueue => {
    const name = stringOf(QueueUrl)?.split('/').at(-1) ?? refuse('MissingParameter', missing('QueueUrl'));
    const queue = kept.get(name) ?? fifos.get(name);
    if (!queue) throw new AwsError('QueueDoesNotExist', 'The specified queue does not exist.');
    return queue;
  };
  /** The hops of what each worker sends that handles a message now. */
  const chains = new Map<string, number>();
  const hopsOf = (worker = ''): number => chains.get(worker) ?? 0;
  const ofFifo =
    (run: (queue: FifoQueue, input: JsonObject, hops: number) => JsonObject) =>
    async (input: JsonObject, worker?: string) => {
      const queue = queueOf(input);
      if (!Array.isArray(queue)) return run(queue, input, hopsOf(worker));
      throw new AwsError('UnsupportedOperation', 'the embedded cloud does not know this operation of a standard queue');
    };
  const operations: Operations = {
    async SendMessage(input, worker) {
      const queue = queueOf(input);
      if (!Array.isArray(queue)) return sendMessage(queue, input, hopsOf(worker));
      const { body, attributes, delayMs, answer } = readSendMessage(input);
      queue.push({ body, attributes, sentAt: now() + delayMs });
      return answer;
    },
    async GetQueueAttributes(input) {
      const queue = queueOf(input);
      if (!Array.isArray(queue)) return { Attributes: queue.counts() };
      return { Attributes: { ApproximateNumberOfMessages: String(queue.length) } };
    },
    SendMessageBatch: ofFifo(sendMessageBatch),
    ReceiveMessage: ofFifo(fifoOperations.ReceiveMessage),
    DeleteMessage: ofFifo(fifoOperations.DeleteMessage),
    ChangeMessageVisibility: ofFifo(fifoOperations.ChangeMessageVisibility),
  };
  const messages = new Map<string, readonly QueueMessage[]>([
    ...kept,
    ...[...fifos].map(([name, queue]) => [name, queue.messages] as const),
  ]);
  return {
    operations,
    chains,
    /** The messages by the name of their queue, the oldest first. */
    messages: messages as ReadonlyMap<string, readonly QueueMessage[]>,
    fifo: (arn: string): FifoQueue | undefined => [...fifos.values()].find((queue) => queue.arn === arn),
    send(arn: string, body: unknown, attributes: QueueMessage['attributes'] = {}): void {
      const queue = kept.get(names.get(arn) ?? '');
      if (!queue) throw new Error(`there is no queue ${arn}`);
      queue.push({ body: JSON.stringify(body), attributes, sentAt: now() });
    },
  };
}
