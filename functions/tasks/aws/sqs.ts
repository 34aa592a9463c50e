import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type ClientOptions, clientConfig, quiet } from './client.ts';

/** Hides a received message for so many seconds from now. */
export type HideMessage = (receiptHandle: string, seconds: number) => Promise<void>;

export function messageHider(QueueUrl: string, options: ClientOptions): HideMessage {
  const client = quiet(new SQSClient(clientConfig(options)));
  return async (ReceiptHandle, VisibilityTimeout) => {
    await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));
  };
}
