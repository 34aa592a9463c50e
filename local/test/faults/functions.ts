import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';

const dynamoDb = new DynamoDBClient({});
const { TABLE, AWS_SESSION_TOKEN = '' } = process.env;

/** Writes an item. Returns the time, the worker and its clocks. */
export const write = async ({ id, ms = 0 }: { id: string; ms?: number }, context: Context) => {
  console.log(`writing ${id}`);
  await sleep(ms);
  await dynamoDb.send(
    new PutItemCommand({ TableName: TABLE, Item: { id: { S: id }, worker: { S: AWS_SESSION_TOKEN } } }),
  );
  console.log(`wrote ${id}`);
  const clocks = [Date.now(), Date.parse(new Date().toISOString()), Date.parse(Date())];
  const plain = [new Date(5).getTime(), new Date('2026-01-01') instanceof Date, new Date().constructor === Date];
  return { worker: AWS_SESSION_TOKEN, clocks, plain, left: context.getRemainingTimeInMillis() };
};

/** Answers in two pieces; `empty` in none. */
export const stream = awslambda.streamifyResponse(async (event: APIGatewayProxyEvent, responseStream) => {
  console.log(`streaming ${event.body}`);
  const stream = awslambda.HttpResponseStream.from(responseStream, { statusCode: 200 });
  if (event.body === 'empty') stream.write('');
  else {
    stream.write('first\n');
    await sleep(150);
    stream.write('second\n');
  }
  stream.end();
  console.log(`streamed ${event.body}`);
});

export const page = async (event: APIGatewayProxyEvent) => {
  console.log(`page ${event.body}`);
  return { statusCode: 200, body: 'page' };
};

export const tick = async () => {
  console.log('tick');
};
