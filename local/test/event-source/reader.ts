import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';

export async function handler({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  for (const { eventSourceARN, dynamodb } of Records) console.log(`${eventSourceARN} ${dynamodb?.NewImage?.id?.S}`);
  return { batchItemFailures: [] };
}
