import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type BatchGetCommandOutput,
  DeleteCommand,
  type DeleteCommandInput,
  DynamoDBDocumentClient,
  GetCommand,
  type GetCommandInput,
  type GetCommandOutput,
  PutCommand,
  type PutCommandInput,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  UpdateCommand,
  type UpdateCommandInput,
  type UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { type ClientOptions, clientConfig, quiet } from './client.ts';

type ByExpression<T> = Omit<T, 'AttributesToGet' | 'AttributeUpdates' | 'Expected' | 'KeyConditions' | 'QueryFilter'>;
export type GetInput = ByExpression<GetCommandInput>;
export type PutInput = ByExpression<PutCommandInput>;
export type UpdateInput = ByExpression<UpdateCommandInput>;
export type DeleteInput = ByExpression<DeleteCommandInput>;
export type QueryInput = ByExpression<QueryCommandInput>;
export type BatchGetInput = BatchGetCommandInput;

/** The operations of the document client that tasks need: a bundle holds no others. Each rejects as `quiet` says. */
export interface DynamoDb {
  get(input: GetInput): Promise<Pick<GetCommandOutput, 'Item'>>;
  put(input: PutInput): Promise<object>;
  update(input: UpdateInput): Promise<Pick<UpdateCommandOutput, 'Attributes'>>;
  delete(input: DeleteInput): Promise<object>;
  query(input: QueryInput): Promise<Pick<QueryCommandOutput, 'Items' | 'LastEvaluatedKey'>>;
  batchGet(input: BatchGetInput): Promise<Pick<BatchGetCommandOutput, 'Responses' | 'UnprocessedKeys'>>;
}

export type DynamoDbOptions = Omit<ClientOptions, 'attempts'> & {
  /** @default 4, as the AWS SDK */
  readonly attempts?: number;
};

export function dynamoDb({ attempts = 4, ...options }: DynamoDbOptions): DynamoDb {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig({ attempts, ...options })), {
    marshallOptions: { removeUndefinedValues: true },
    // By default, one number that JavaScript cannot hold exactly makes the whole page of items unreadable.
    unmarshallOptions: { wrapNumbers: Number },
  });
  return byDocumentClient(quiet(client));
}

export const byDocumentClient = (client: Pick<DynamoDBDocumentClient, 'send'>): DynamoDb => ({
  get: (input) => client.send(new GetCommand(input)),
  put: (input) => client.send(new PutCommand(input)),
  update: (input) => client.send(new UpdateCommand(input)),
  delete: (input) => client.send(new DeleteCommand(input)),
  query: (input) => client.send(new QueryCommand(input)),
  batchGet: (input) => client.send(new BatchGetCommand(input)),
});
