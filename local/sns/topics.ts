import { randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error.ts';
import { isObject, type JsonObject, objectOf, stringOf } from '../json.ts';
import type { QueryService } from '../wire/query.ts';
import type { Operations } from '../wire/types.ts';
import type { TopicResource } from './resources.ts';

/** A message that was published to a topic. Only tests receive it. */
export interface TopicMessage {
  readonly message: string;
  readonly subject?: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

/** "at most 256 KB in size (262,144 bytes, not 262,144 characters)" (API reference of Publish, Message). */
const MOST_BYTES = 262_144;
/** "must be less than 100 characters long", in ASCII, without line breaks and control characters (same page, Subject). */
const SUBJECT = /^[!-~][ -~]{0,98}$/;
const ATTRIBUTE = /^[\w.-]{1,256}$/;

export type Topics = ReturnType<typeof createTopics>;

/** The topics of a template. Messages stay in memory, and reach no subscription. */
export function createTopics(topics: readonly TopicResource[], now: () => number) {
  const kept = new Map(topics.map(({ arn }): [string, TopicMessage[]] => [arn, []]));
  const publish = (input: JsonObject) => {
    const sent = readPublish(input);
    const topic = kept.get(String(input.TopicArn));
    if (topic === undefined) throw new AwsError('NotFound', 'Topic does not exist', 404);
    topic.push({ ...sent, sentAt: now() });
    return { MessageId: randomUUID() };
  };
  /** As state machines call it, and as AWS clients do. */
  const operations: Operations = { Publish: async (input) => publish(input) };
  const query: QueryService = { name: 'sns', operations: { Publish: (form) => publish(ofForm(form)) } };
  /** The messages by the name of their topic, the oldest first. */
  const messages: ReadonlyMap<string, readonly TopicMessage[]> = new Map(
    topics.map(({ arn, name }) => [name, kept.get(arn) ?? []]),
  );
  return { operations, query, messages };
}

/** `MessageAttributes.entry.1.Name=a&MessageAttributes.entry.1.Value.DataType=String&…` as an object. */
function ofForm({ Version: _, ...form }: Readonly<Record<string, string>>): JsonObject {
  const ENTRY = /^MessageAttributes\.entry\.(\d+)\.(Name|Value\.(\w+))$/;
  const members = Object.entries(form);
  const parts = members.flatMap(([name, value]) => {
    const [, entry, part, member = 'Name'] = ENTRY.exec(name) ?? [];
    return part === undefined ? [] : [{ entry, member, value }];
  });
  const entries = Object.values(Object.groupBy(parts, ({ entry }) => String(entry))).map((all = []) => {
    const { Name = '', ...attribute } = Object.fromEntries(all.map(({ member, value }) => [member, value]));
    return [Name, attribute];
  });
  const rest = Object.fromEntries(members.filter(([name]) => !ENTRY.test(name)));
  return { ...rest, ...(entries.length > 0 && { MessageAttributes: Object.fromEntries(entries) }) };
}

function readPublish(input: JsonObject): Omit<TopicMessage, 'sentAt'> {
  const { TopicArn, Message, Subject, MessageStructure, MessageAttributes, ...others } = input;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) refuse(`the embedded cloud does not know ${unknown} of Publish`);
  if (stringOf(TopicArn) === undefined) refuse('TopicArn or TargetArn Reason: no value for required parameter');
  const message = stringOf(Message) ?? '';
  if (message === '') refuse('Empty message');
  const subject = stringOf(Subject);
  if (Subject !== undefined && !SUBJECT.test(subject ?? '')) refuse('Subject');
  if (MessageStructure !== undefined && MessageStructure !== 'json') refuse('MessageStructure');
  if (MessageStructure === 'json') checkStructure(message);
  const all = Object.entries(objectOf(MessageAttributes));
  const attributes = all.map(([name, value]): [string, string] => [name, attributeOf(name, objectOf(value))]);
  const types = all.map(([, value]) => String(objectOf(value).DataType));
  const bytes = [message, ...attributes.flat(), ...types].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MOST_BYTES) refuse('Message too long');
  return { message, ...(subject !== undefined && { subject }), attributes: Object.fromEntries(attributes) };
}

/** "a syntactically valid JSON object" with "at least a top-level JSON key of "default" with a value that is a string" (same page). */
function checkStructure(message: string): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(message);
  } catch {
    refuse('Message Structure - JSON message body failed to parse');
  }
  if (isObject(parsed) && typeof parsed.default === 'string') return;
  refuse('Message Structure - No default entry in JSON message body');
}

function attributeOf(name: string, { DataType, StringValue }: JsonObject): string {
  const value = stringOf(StringValue);
  const known = /^(String|String\.Array|Number)$/.test(String(DataType));
  if (ATTRIBUTE.test(name) && known && value !== undefined && value !== '') return value;
  return refuse(`the embedded cloud does not know the value of the message attribute ${name}`);
}

function refuse(what: string): never {
  throw new AwsError('InvalidParameter', `Invalid parameter: ${what}`);
}
