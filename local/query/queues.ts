import { AwsError } from '../aws-error.ts';
import type { Queues } from '../sqs/queues.ts';
import type { QueueResource } from '../template/specs.ts';
import type { Operations } from '../wire/types.ts';

/** SQS: only the operation that counts the messages of a queue. */
export function queueOperations(resources: readonly QueueResource[], queues: Queues): Operations {
  return {
    async GetQueueAttributes({ QueueUrl }) {
      const name = String(QueueUrl).split('/').at(-1) ?? '';
      const messages = queues.messages.get(name);
      if (messages === undefined || !resources.some((queue) => queue.name === name)) {
        throw new AwsError('QueueDoesNotExist', 'The specified queue does not exist.');
      }
      return { Attributes: { ApproximateNumberOfMessages: String(messages.length) } };
    },
  };
}
