import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type DynamoDb, dynamoDb } from '../../functions/tasks/aws/dynamodb.ts';
import type { Cloud } from '../../local/cloud.ts';

/** DynamoDB of an embedded cloud, by the client of the deployed functions. `caller`: whose rights count. */
export function dynamoDbOf({ endpoint, region }: Pick<Cloud, 'endpoint' | 'region'>, caller: string): DynamoDb {
  const credentials = async () => ({ accessKeyId: caller, secretAccessKey: 'test' });
  return dynamoDb({ endpoint, region, credentials, requestTimeout: 10_000 }, {});
}

/** The same operations by a document client of the AWS SDK, for fakes and mocks of that client. */
export const byDocumentClient = (client: Pick<DynamoDBDocumentClient, 'send'>): DynamoDb => ({
  get: async (input) => client.send(new GetCommand(input)),
  put: async (input) => client.send(new PutCommand(input)),
  update: async (input) => client.send(new UpdateCommand(input)),
  query: async (input) => client.send(new QueryCommand(input)),
  batchGet: async (input) => client.send(new BatchGetCommand(input)),
});
