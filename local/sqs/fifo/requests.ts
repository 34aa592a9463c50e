import { createHash } from 'node:crypto';
import { type JsonObject, listOf, numberOf, stringOf } from '../../json.ts';
import { missing, readSendMessage, refuse } from '../send.ts';
import { contentId, type FifoMessage, type FifoQueue } from './queue.ts';

/** "Can contain up to 128 characters … alphanumeric characters and punctuation" (API reference of SendMessage). */
const ID = /^[a-zA-Z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;
/** "Valid values: 1 to 10. Default: 1" (API reference of ReceiveMessage, MaxNumberOfMessages). */
const MOST_MESSAGES = 10;
/** "Values range: 0 to 43200. Maximum: 12 hours" (API reference of ChangeMessageVisibility). */
const LONGEST_VISIBILITY = 43_200;

/** Sends one message. */
export function sendMessage(
  queue: FifoQueue,
  { MessageGroupId, MessageDeduplicationId, ...input }: JsonObject,
  hops: number,
): JsonObject {
  const { DelaySeconds } = input;
  if (DelaySeconds !== undefined) {
    invalid('DelaySeconds', DelaySeconds, 'The request include parameter that is not valid for this queue type.');
  }
  const { body, attributes, answer } = readSendMessage(input);
  const group = stringOf(MessageGroupId) ?? refuse('MissingParameter', missing('MessageGroupId'));
  const id = stringOf(MessageDeduplicationId) ?? (queue.deduplicatesByContent ? contentId(body) : undefined);
  if (id === undefined) {
    return refuse(
      'InvalidParameterValue',
      'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
    );
  }
  for (const [name, value] of Object.entries({ MessageGroupId: group, MessageDeduplicationId: id })) {
    if (!ID.test(value)) {
      invalid(name, value, `${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`);
    }
  }
  const sent = queue.send({ body, attributes, group, deduplicationId: id, hops });
  return { ...answer, MessageId: sent.id, SequenceNumber: sent.sequenceNumber };
}

/** The other operations on a FIFO queue, by name. */
export const fifoOperations = {
  ReceiveMessage(queue: FifoQueue, input: JsonObject): JsonObject {
    const { MaxNumberOfMessages = 1, VisibilityTimeout, AttributeNames, MessageSystemAttributeNames } = input;
    known(input, 'MaxNumberOfMessages VisibilityTimeout AttributeNames MessageSystemAttributeNames', 'ReceiveMessage');
    const most = integer('MaxNumberOfMessages', MaxNumberOfMessages, [1, MOST_MESSAGES]);
    const seconds = visibility(VisibilityTimeout ?? queue.visibilitySeconds);
    const wanted = [...listOf(AttributeNames), ...listOf(MessageSystemAttributeNames)];
    const messages = queue.receive(most, seconds).map((message) => {
      const all = Object.entries(systemAttributes(message));
      const asked = wanted.includes('All') ? all : all.filter(([name]) => wanted.includes(name));
      return {
        MessageId: message.id,
        ReceiptHandle: message.handle,
        MD5OfBody: md5(message.body),
        Body: message.body,
        ...(asked.length > 0 && { Attributes: Object.fromEntries(asked) }),
      };
    });
    return messages.length === 0 ? {} : { Messages: messages };
  },

  DeleteMessage(queue: FifoQueue, input: JsonObject): JsonObject {
    known(input, 'ReceiptHandle', 'DeleteMessage');
    const { handle, message } = receipt(queue, input);
    // A message that is gone is deleted: the request may be a second one.
    if (!message) return {};
    if (!queue.isInFlight(message)) invalid('ReceiptHandle', handle, 'The receipt handle has expired.');
    queue.remove(message);
    return {};
  },

  ChangeMessageVisibility(queue: FifoQueue, input: JsonObject): JsonObject {
    known(input, 'ReceiptHandle VisibilityTimeout', 'ChangeMessageVisibility');
    if (input.VisibilityTimeout === undefined) refuse('MissingParameter', missing('VisibilityTimeout'));
    const seconds = visibility(input.VisibilityTimeout);
    const { handle, message } = receipt(queue, input);
    if (!message) {
      return invalid(
        'ReceiptHandle',
        handle,
        'Message does not exist or is not available for visibility timeout change.',
      );
    }
    if (!queue.isInFlight(message)) refuse('MessageNotInflight', 'The specified message is not in flight.');
    // "An Amazon SQS message can be invisible for a maximum of 12 hours" from the time when it was received.
    if (queue.isBeyond(message, seconds, LONGEST_VISIBILITY)) {
      invalid(
        'VisibilityTimeout',
        seconds,
        `Total VisibilityTimeout for the message is beyond the limit [${LONGEST_VISIBILITY} seconds].`,
      );
    }
    queue.changeVisibility(message, seconds);
    return {};
  },
};

/** The attributes that SQS keeps of a message. */
export function systemAttributes(message: FifoMessage): Record<string, string> {
  return {
    ApproximateReceiveCount: String(message.received),
    SentTimestamp: String(message.sentAt),
    SequenceNumber: message.sequenceNumber,
    MessageGroupId: message.group,
    SenderId: 'AIDALOCAL',
    MessageDeduplicationId: message.deduplicationId,
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
  };
}

export const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** Finds a message by its receipt. "The input receipt handle is invalid" if it is not a receipt at all. */
function receipt(queue: FifoQueue, { ReceiptHandle }: JsonObject) {
  const handle = stringOf(ReceiptHandle) ?? refuse('MissingParameter', missing('ReceiptHandle'));
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(handle)) {
    refuse('ReceiptHandleIsInvalid', `The input receipt handle "${handle}" is not a valid receipt handle.`);
  }
  return { handle, message: queue.find(handle) };
}

/** Refuses members of a request that are not known here. @param names between blanks */
export function known(input: JsonObject, names: string, operation: string): void {
  const unknown = Object.keys(input).find((name) => name !== 'QueueUrl' && !names.split(' ').includes(name));
  if (unknown === undefined) return;
  refuse('UnsupportedOperation', `the embedded cloud does not know ${unknown} of ${operation}`);
}

const visibility = (value: unknown) => integer('VisibilityTimeout', value, [0, LONGEST_VISIBILITY]);

function integer(name: string, value: unknown, [least, most]: readonly [number, number]): number {
  const number = numberOf(value);
  if (number !== undefined && Number.isInteger(number) && number >= least && number <= most) return number;
  return invalid(name, value, `Must be between ${least} and ${most}, if provided.`);
}

function invalid(name: string, value: unknown, reason: string): never {
  return refuse('InvalidParameterValue', `Value ${value} for parameter ${name} is invalid. Reason: ${reason}`);
}
