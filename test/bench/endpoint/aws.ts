import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface AwsDouble {
  readonly url: string;
  close(): void;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * An AWS on 127.0.0.1 that answers at once and remembers only the items that were put. It checks nothing: it is for
 * running a function's own code, not for testing it.
 */
export async function startAws(): Promise<AwsDouble> {
  const items = new Map<string, Json>();
  const server = createServer(async (request, response) => {
    const target = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const answer = (answers[target] ?? (() => ({})))(JSON.parse((await text(request)) || '{}'), items);
    const body = JSON.stringify(answer);
    const type = request.headers['content-type'] ?? 'application/x-amz-json-1.0';
    response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

// biome-ignore lint/suspicious/noExplicitAny: requests of every operation.
type Operation = (input: any, items: Map<string, Json>) => Json;

const keyOf = (key: Json) => JSON.stringify([key.owner, key.taskId]);
const found = (item: Json | undefined, name: string) => (item === undefined ? {} : { [name]: item });

const answers: Readonly<Record<string, Operation>> = {
  GetItem: ({ Key }, items) => found(items.get(keyOf(Key)), 'Item'),
  UpdateItem: ({ Key }, items) => found(items.get(keyOf(Key)), 'Attributes'),
  PutItem({ Item }, items) {
    items.set(keyOf(Item), Item);
    return {};
  },
  BatchGetItem: ({ RequestItems }, items) => ({
    Responses: Object.fromEntries(
      Object.entries(RequestItems as Record<string, { Keys: Json[] }>).map(([table, { Keys }]) => [
        table,
        Keys.flatMap((key) => items.get(keyOf(key)) ?? []),
      ]),
    ),
  }),
  Query: () => ({ Items: [], Count: 0, ScannedCount: 0 }),
  StartExecution: () => ({ executionArn: 'arn:aws:states:us-east-1:123456789012:execution:a:b', startDate: 0 }),
  GetSecretValue: ({ VersionStage }) => ({ SecretString: String(VersionStage) }),
};
