import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { type DynamoDb, dynamoDb } from '../../functions/tasks/aws/dynamodb.ts';
import { type TaskStore, taskStore } from '../../functions/tasks/table/store.ts';
import {
  AwsError,
  type MachineResource,
  readAssembly,
  readSpecs,
  resolveStack,
  startDynamoDb,
  type TableResource,
} from '../../local/testing.ts';

/** The engine that `npm run test:dynamodb-local` has started; without it, dynalite as the embedded cloud has it. */
const elsewhere = process.env.DYNAMODB_LOCAL;
export const engine = elsewhere === undefined ? 'dynalite' : 'DynamoDB Local';

/** A DynamoDB with the table of the synthesized stack, and the store on it. */
export interface Referee {
  readonly endpoint: string;
  /** The store with the endpoint's clients. */
  readonly store: TaskStore;
  readonly dynamoDb: DynamoDb;
  /** A client for calls that no store makes. */
  readonly db: DynamoDBDocumentClient;
  readonly table: string;
  /** The tool workflows of the same stack. */
  readonly machines: readonly MachineResource[];
  stop(): Promise<void>;
}

export const region = 'us-east-1';
export const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

export async function openReferee(): Promise<Referee> {
  const { tables, machines } = readSpecs(readAssembly(inject('assembly')).map(resolveStack));
  const [table] = tables;
  if (table === undefined) throw new Error('the stack has no table');
  const own = elsewhere === undefined ? await startDynalite(tables) : undefined;
  const endpoint = own?.url ?? elsewhere ?? '';
  const client = new DynamoDBClient({ endpoint, region, credentials });
  if (own === undefined) await createTable(client, table);
  const db = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const lean = dynamoDb({ endpoint, region, credentials: async () => credentials, requestTimeout: 30_000 });
  return {
    ...{ endpoint, db, machines, dynamoDb: lean },
    table: table.name,
    store: taskStore(lean, table.name),
    async stop() {
      client.destroy();
      await own?.stop();
    },
  };
}

async function createTable(client: DynamoDBClient, { name, schema, ttlAttribute }: TableResource): Promise<void> {
  await client.send(new CreateTableCommand(schema as unknown as CreateTableCommandInput));
  await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName: name });
  const TimeToLiveSpecification = { AttributeName: ttlAttribute, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
}

async function startDynalite(tables: readonly TableResource[]) {
  const onError = (message: string) => console.error(message);
  const { service, stop } = await startDynamoDb({
    ...{ tables, now: Date.now, sweepMs: 3_600_000, metered: false, onError },
  });
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const operation = String(request.headers['x-amz-target']).replace(/^.*\./, '');
    const call = { operation, caller: 'contract', headers: request.headers, body: await buffer(request) };
    const { status, headers, body } = await service.handle(call).catch(refusal);
    response.writeHead(status, headers).end(body);
  };
  const server = createServer((request, response) => void serve(request, response));
  server.keepAliveTimeout = 600_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await stop();
    },
  };
}

function refusal(thrown: unknown) {
  if (!(thrown instanceof AwsError)) throw thrown;
  const { status, type: __type, message } = thrown;
  return { status, headers: {}, body: JSON.stringify({ __type, message }) };
}
