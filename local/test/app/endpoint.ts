import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import type { APIGatewayProxyEvent } from 'aws-lambda';

// As on AWS, no client is given the address of its service.
const dynamoDb = new DynamoDBClient({});
const stepFunctions = new SFNClient({});
const secrets = new SecretsManagerClient({});
const { TABLE, MACHINE, SECRET } = process.env;

/** Stores an item, starts the machine on it, and answers in two pieces. */
export const handler = awslambda.streamifyResponse(async (event: APIGatewayProxyEvent, responseStream) => {
  const id = event.body ?? '';
  const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId: SECRET }));
  const Item = { id: { S: id }, due: { S: 'soon' } };
  await dynamoDb.send(new PutItemCommand({ TableName: TABLE, Item }));
  const stream = awslambda.HttpResponseStream.from(responseStream, {
    statusCode: 202,
    headers: { 'content-type': 'text/plain', 'x-secret-length': String(SecretString.length) },
  });
  stream.write('stored\n');
  const input = JSON.stringify({ id });
  await stepFunctions.send(new StartExecutionCommand({ stateMachineArn: MACHINE, name: id, input }));
  await sleep(300);
  stream.write('started\n');
  stream.end();
});
