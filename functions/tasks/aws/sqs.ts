import { ChangeMessageVisibilityCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type ClientOptions, clientConfig, quiet } from './client.ts';

/** A message of a FIFO queue. */
export interface FifoMessage {
  /** Messages of a group are received in the order in which they were sent, one after the other. */
  readonly group: string;
  /** A message with an id of the last five minutes is accepted and left out. */
  readonly id: string;
  readonly body: string;
}

/** Sends up to ten messages. Returns for each whether it was accepted. */
export type SendFifo = (messages: readonly FifoMessage[]) => Promise<readonly boolean[]>;

export function fifoSender(QueueUrl: string, options: ClientOptions): SendFifo {
  const client = quiet(new SQSClient(clientConfig(options)));
  return async (messages) => {
    const Entries = messages.map(({ group, id, body }, index) => ({
      Id: String(index),
      MessageGroupId: group,
      MessageDeduplicationId: id,
      MessageBody: body,
    }));
    const { Successful = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    const accepted = new Set(Successful.map(({ Id }) => Id));
    return messages.map((_message, index) => accepted.has(String(index)));
  };
}

/** Hides a received message for so many seconds from now. */
export type HideMessage = (receiptHandle: string, seconds: number) => Promise<void>;

export function messageHider(QueueUrl: string, options: ClientOptions): HideMessage {
  const client = quiet(new SQSClient(clientConfig(options)));
  return async (ReceiptHandle, VisibilityTimeout) => {
    await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
  };
}
