import { isObject, type JsonObject, listOf, objectOf, stringOf } from '../../json.ts';
import { AGAIN, type Integration, type IntegrationCall, StatesError } from '../index.ts';
import type { IntegrationOptions, JsonServiceName } from './options.ts';
import { withMetadata } from './sdk-answer.ts';

interface Called {
  readonly service: JsonServiceName;
  /** How the names of its errors begin. */
  readonly prefix: string;
  /** The error of all that the model of the service does not name. */
  readonly other: string;
  /** The errors that the model names, as the integration calls them. */
  readonly named: readonly string[];
}

const DYNAMODB: Called = {
  service: 'dynamodb',
  prefix: 'DynamoDB',
  other: 'AmazonDynamoDBException',
  named: [
    'ConditionalCheckFailedException',
    'InternalServerError',
    'ItemCollectionSizeLimitExceededException',
    'ProvisionedThroughputExceededException',
    'ReplicatedWriteConflictException',
    'RequestLimitExceeded',
    'ResourceNotFoundException',
    'ThrottlingException',
    'TransactionConflictException',
  ],
};
const SQS: Called = {
  service: 'sqs',
  prefix: 'SQS',
  other: 'AmazonSQSException',
  named: ['InvalidMessageContentsException', 'QueueDoesNotExistException', 'UnsupportedOperationException'],
};
const SNS: Called = {
  service: 'sns',
  prefix: 'SNS',
  other: 'AmazonSNSException',
  named: ['AuthorizationErrorException', 'InvalidParameterException', 'NotFoundException'],
};
const EVENTS: Called = { service: 'events', prefix: 'EventBridge', other: 'AmazonEventBridgeException', named: [] };

/** `dynamodb:<operation>` */
export const callDynamoDb =
  (options: IntegrationOptions, operation: string): Integration =>
  // Evaluates the Arguments again: a condition on the time must hold at the write, which may happen much later.
  async (call) =>
    call.lost ? AGAIN : request(call, DYNAMODB, operation, objectOf(call.arguments), options);

/** `sqs:sendMessage`: a body that is not text is sent as JSON. */
export const sendMessage =
  (options: IntegrationOptions): Integration =>
  async (call) => {
    // The queues of the process that died are gone.
    if (call.lost) return AGAIN;
    const { MessageBody, ...input } = objectOf(call.arguments);
    const sent = { ...input, ...(MessageBody !== undefined && { MessageBody: textOf(MessageBody) }) };
    return request(call, SQS, 'SendMessage', sent, options);
  };

/** `sns:publish`: a message that is not text is sent as JSON. */
export const publish =
  (options: IntegrationOptions): Integration =>
  async (call) => {
    // The messages of the process that died are gone.
    if (call.lost) return AGAIN;
    const { Message, ...input } = objectOf(call.arguments);
    const sent = { ...input, ...(Message !== undefined && { Message: textOf(Message) }) };
    return request(call, SNS, 'Publish', sent, options);
  };

/** `events:putEvents`: a detail may be an object, and each entry gets the ARNs of the execution and of the machine. */
export const putEvents =
  (options: IntegrationOptions): Integration =>
  async (call) => {
    if (call.lost) return AGAIN;
    const Entries = listOf(objectOf(call.arguments).Entries)
      .map(objectOf)
      .map((entry) => ({
        ...entry,
        ...(entry.Detail !== undefined && { Detail: textOf(entry.Detail) }),
        ...(entry.Time !== undefined && { Time: secondsOf(entry.Time) }),
        Resources: [...listOf(entry.Resources), call.executionArn, call.stateMachineArn],
      }));
    const output = await request(call, EVENTS, 'PutEvents', { Entries }, options);
    if (Number(output.FailedEntryCount) === 0) return output;
    const { FailedEntryCount, Entries: answers } = output;
    throw new StatesError('EventBridge.FailedEntry', JSON.stringify({ Entries: answers, FailedEntryCount }));
  };

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const secondsOf = (time: unknown): unknown => (typeof time === 'string' ? Date.parse(time) / 1000 : time);

/** Calls a service as the role of the machine. */
async function request(
  call: IntegrationCall,
  { service, prefix, other, named }: Called,
  operation: string,
  input: JsonObject,
  { send, accessKeyOfRole }: IntegrationOptions,
): Promise<JsonObject> {
  const { status, body } = await send(service, operation, input, accessKeyOfRole(call.roleArn)).catch(
    (error: unknown) => {
      throw new StatesError(`${prefix}.SdkClientException`, error instanceof Error ? error.message : String(error));
    },
  );
  const output: unknown = JSON.parse(String(body));
  if (status === 200) return withMetadata(isObject(output) ? output : {}, Buffer.byteLength(body));
  const { __type, message, Message } = objectOf(output);
  const type = stringOf(__type)?.split('#').at(-1) ?? '';
  // The classes of AWS's Java client, whose names the integrations use, end in Exception.
  const name = [type, `${type}Exception`].find((one) => named.includes(one)) ?? other;
  throw new StatesError(`${prefix}.${name}`, stringOf(message ?? Message) ?? '');
}
