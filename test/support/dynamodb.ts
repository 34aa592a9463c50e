import { type DynamoDb, dynamoDb } from '../../functions/tasks/aws/dynamodb.ts';
import type { Cloud } from '../../local/cloud.ts';

/** DynamoDB of an embedded cloud, by the client of the deployed functions. @param caller the caller whose rights count */
export function dynamoDbOf({ endpoint, region }: Pick<Cloud, 'endpoint' | 'region'>, caller: string): DynamoDb {
  const credentials = async () => ({ accessKeyId: caller, secretAccessKey: 'test' });
  return dynamoDb({ endpoint, region, credentials, requestTimeout: 10_000 });
}
