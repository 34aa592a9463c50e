import type {
  BatchGetCommandInput,
  BatchGetCommandOutput,
  GetCommandInput,
  GetCommandOutput,
  PutCommandInput,
  QueryCommandInput,
  QueryCommandOutput,
  UpdateCommandInput,
  UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { awsJson } from './aws-json.ts';
import type { AwsCredentials } from './signed-request.ts';

type Expressive<T> = Omit<T, 'AttributesToGet' | 'AttributeUpdates' | 'Expected' | 'KeyConditions' | 'QueryFilter'>;
export type GetInput = Expressive<GetCommandInput>;
export type PutInput = Expressive<PutCommandInput>;
export type UpdateInput = Expressive<UpdateCommandInput>;
export type QueryInput = Expressive<QueryCommandInput>;
export type BatchGetInput = BatchGetCommandInput;

/**
 * The operations of DynamoDB that tasks need, with inputs and answers as the document client of the AWS SDK has them: plain
 * values, sets as `Set`, binary as `Uint8Array`. Undefined values are left out. A number that JavaScript cannot hold
 * exactly is read as the nearest one it can. Each rejects with the errors of `AwsJson`, never with a message of AWS.
 */
export interface DynamoDb {
  get(input: GetInput): Promise<Pick<GetCommandOutput, 'Item'>>;
  put(input: PutInput): Promise<object>;
  update(input: UpdateInput): Promise<Pick<UpdateCommandOutput, 'Attributes'>>;
  query(input: QueryInput): Promise<Pick<QueryCommandOutput, 'Items' | 'LastEvaluatedKey'>>;
  batchGet(input: BatchGetInput): Promise<Pick<BatchGetCommandOutput, 'Responses' | 'UnprocessedKeys'>>;
}

export interface DynamoDbOptions {
  /** Of one attempt, in ms. */
  readonly requestTimeout: number;
  /** @default 4, as the AWS SDK */
  readonly attempts?: number;
  /** @default AWS_REGION */
  readonly region?: string;
  /** @default AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, then DynamoDB itself */
  readonly endpoint?: string;
  /** @default those of the environment */
  readonly credentials?: () => Promise<AwsCredentials>;
}

/** Throws if there is no region. */
export function dynamoDb({ attempts = 4, ...options }: DynamoDbOptions, env: NodeJS.ProcessEnv): DynamoDb {
  const region = options.region ?? env.AWS_REGION;
  if (!region) throw new Error('DynamoDB needs a region: set AWS_REGION');
  const send = awsJson({
    ...{ service: 'dynamodb', target: 'DynamoDB_20120810', version: '1.0', attempts, retries: RETRIES },
    ...{ endpoint: env.AWS_ENDPOINT_URL_DYNAMODB ?? env.AWS_ENDPOINT_URL, ...options, region },
  });

  return {
    async get(input) {
      const { Item } = (await send('GetItem', { ...input, Key: toAttributes(input.Key) })) as Answer;
      return Item === undefined ? {} : { Item: fromAttributes(Item) };
    },
    async put(input) {
      return send('PutItem', { ...input, Item: toAttributes(input.Item), ...values(input) });
    },
    async update(input) {
      const request = { ...input, Key: toAttributes(input.Key), ...values(input) };
      const { Attributes } = (await send('UpdateItem', request)) as Answer;
      return Attributes === undefined ? {} : { Attributes: fromAttributes(Attributes) };
    },
    async query(input) {
      const { ExclusiveStartKey: from } = input;
      const start = from && { ExclusiveStartKey: toAttributes(from) };
      const answer = (await send('Query', { ...input, ...start, ...values(input) })) as Answer;
      const { Items, LastEvaluatedKey } = answer;
      return {
        ...(Items && { Items: Items.map(fromAttributes) }),
        ...(LastEvaluatedKey && { LastEvaluatedKey: fromAttributes(LastEvaluatedKey) }),
      };
    },
    async batchGet({ RequestItems = {}, ...input }) {
      const keysOf = <T>({ Keys = [], ...rest }: { Keys?: T[] | undefined }, of: (key: T) => object) => ({
        ...rest,
        Keys: Keys.map(of),
      });
      const request = { ...input, RequestItems: each(RequestItems, (one) => keysOf(one, toAttributes)) };
      const { Responses, UnprocessedKeys } = (await send('BatchGetItem', request)) as Answer;
      return {
        ...(Responses && { Responses: each(Responses, (items) => items.map(fromAttributes)) }),
        ...(UnprocessedKeys && { UnprocessedKeys: each(UnprocessedKeys, (one) => keysOf(one, fromAttributes)) }),
      };
    },
  };
}

/** Those of the AWS SDK for DynamoDB (@smithy/core `Retry`, `StandardRetryStrategy`; client-dynamodb `DynamoDBClient`). */
const RETRIES = { pause: 25, throttlePause: 1_000, quota: 500 };

/** As the protocol has it. */
type Item = Readonly<Record<string, Attribute>>;
interface Attribute {
  readonly B?: string;
  readonly BS?: readonly string[];
  readonly L?: readonly Attribute[];
  readonly M?: Item;
}
interface Answer {
  readonly Item?: Item;
  readonly Attributes?: Item;
  readonly Items?: readonly Item[];
  readonly LastEvaluatedKey?: Item;
  readonly Responses?: Readonly<Record<string, readonly Item[]>>;
  readonly UnprocessedKeys?: Readonly<Record<string, { readonly Keys: Item[] }>>;
}

const toAttributes = (item: Readonly<Record<string, unknown>> = {}) => marshall(item, { removeUndefinedValues: true });

const values = ({ ExpressionAttributeValues: given }: Pick<UpdateInput, 'ExpressionAttributeValues'>) =>
  given && { ExpressionAttributeValues: toAttributes(given) };

/** By default, one number that JavaScript cannot hold exactly makes the whole page of items unreadable. */
const fromAttributes = (item: Item) =>
  unmarshall(each(item, decoded) as Parameters<typeof unmarshall>[0], { wrapNumbers: Number });

/** The protocol has binary values in base64, the marshaller has them as bytes. */
function decoded(attribute: Attribute): object {
  const { B, BS, L, M } = attribute;
  if (B !== undefined) return { B: bytes(B) };
  if (BS !== undefined) return { BS: BS.map(bytes) };
  if (L !== undefined) return { L: L.map(decoded) };
  if (M !== undefined) return { M: each(M, decoded) };
  return attribute;
}

const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'base64'));

const each = <T, U>(all: Readonly<Record<string, T>>, of: (value: T) => U): Record<string, U> =>
  Object.fromEntries(
    Object.entries(all)
      // The marshaller would make it the prototype of the item.
      .filter(([name]) => name !== '__proto__')
      .map(([name, value]) => [name, of(value)]),
  );
