import { createHash, randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import { type JsonObject, numberOf, objectOf, stringOf } from '../json.ts';

/** "The maximum message size is 256 KiB" until August 2025, 1 MiB since (SQS quotas); the lower one holds here. */
const MOST_BYTES = 262_144;
/** "Valid values: 0 to 900" (API reference of SendMessage, DelaySeconds). */
const LONGEST_DELAY = 900;
/** "A message can include up to 10 attributes" (SQS developer guide, "Amazon SQS message attributes"). */
const MOST_ATTRIBUTES = 10;
/** "A message can include only XML, JSON, and unformatted text": the characters that SendMessage lists. */
const TEXT = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u;

export interface Sent {
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly delayMs: number;
  readonly answer: JsonObject;
}

/** Checks the members of SendMessage that both kinds of queues take. */
export function readSendMessage(input: JsonObject): Sent {
  const { QueueUrl: _, MessageBody, DelaySeconds = 0, MessageAttributes, ...others } = input;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    refuse('UnsupportedOperation', `the embedded cloud does not know ${unknown} of SendMessage`);
  const body = stringOf(MessageBody) ?? refuse('MissingParameter', missing('MessageBody'));
  if (body === '') refuse('MissingParameter', missing('MessageBody'));
  if (!TEXT.test(body)) refuse('InvalidMessageContents', 'Invalid characters found.');
  const attributes = Object.entries(objectOf(MessageAttributes));
  const values = attributes.map(([name, value]): [string, string] => [name, attributeValue(name, objectOf(value))]);
  const types = attributes.map(([, value]) => String(objectOf(value).DataType));
  const bytes = [body, ...values.flat(), ...types].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MOST_BYTES) {
    refuse(
      'InvalidParameterValue',
      `One or more parameters are invalid. Reason: Message must be shorter than ${MOST_BYTES} bytes.`,
    );
  }
  if (values.length > MOST_ATTRIBUTES) {
    refuse(
      'InvalidParameterValue',
      `Number of message attributes [${values.length}] exceeds the allowed maximum [10].`,
    );
  }
  const delay = numberOf(DelaySeconds) ?? -1;
  if (!Number.isInteger(delay) || delay < 0 || delay > LONGEST_DELAY) {
    refuse(
      'InvalidParameterValue',
      `Value ${DelaySeconds} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= ${LONGEST_DELAY}.`,
    );
  }
  return {
    body,
    attributes: Object.fromEntries(values),
    delayMs: delay * 1000,
    answer: { MD5OfMessageBody: createHash('md5').update(body).digest('hex'), MessageId: randomUUID() },
  };
}

function attributeValue(name: string, { DataType, StringValue }: JsonObject): string {
  const value = stringOf(StringValue);
  if (/^(String|Number)(\.|$)/.test(String(DataType)) && value !== undefined) return value;
  return refuse('UnsupportedOperation', `the embedded cloud does not know the value of the message attribute ${name}`);
}

export const missing = (name: string) => `The request must contain the parameter ${name}.`;

export function refuse(type: string, message: string): never {
  throw new AwsError(type, message);
}
