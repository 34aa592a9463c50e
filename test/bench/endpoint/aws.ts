import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createTable, type Table } from '../../support/engine/table.ts';
import type { Item } from '../../support/engine/values.ts';

export interface AwsDouble {
  readonly url: string;
  close(): void;
}

/** An AWS on 127.0.0.1 that answers at once, with the table in memory. Runs that are started never begin. */
export async function startAws(): Promise<AwsDouble> {
  const table = createTable(Date.now, () => {});
  const server = createServer(async (request, response) => {
    const target = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const input = JSON.parse((await text(request)) || '{}');
    const { status, answer } = carriedOut(() => answers[target]?.(input, table) ?? {});
    const body = JSON.stringify(answer);
    const type = request.headers['content-type'] ?? 'application/x-amz-json-1.0';
    response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

function carriedOut(operation: () => object) {
  try {
    return { status: 200, answer: operation() };
  } catch (error) {
    const { name, message } = error as Error;
    return { status: 400, answer: { __type: name, message } };
  }
}

// biome-ignore lint/suspicious/noExplicitAny: requests of every operation.
type Operation = (input: any, table: Table) => object | undefined;

const answers: Readonly<Record<string, Operation>> = {
  GetItem: (input, table) => ({ Item: table.get(input.Key, input, false) }),
  UpdateItem(input, table) {
    const Attributes = table.update(input);
    return input.ReturnValues === 'ALL_NEW' ? { Attributes } : {};
  },
  PutItem: (input, table) => void table.put(input),
  BatchGetItem: ({ RequestItems }, table) => ({
    Responses: Object.fromEntries(
      Object.entries(RequestItems as Record<string, { Keys: Item[] }>).map(([name, { Keys, ...rest }]) => [
        name,
        Keys.flatMap((key) => table.get(key, rest, false) ?? []),
      ]),
    ),
  }),
  Query: (input, table) => ({ Items: table.query(input, false).items }),
  StartExecution: () => ({ executionArn: 'arn:aws:states:us-east-1:123456789012:execution:a:b', startDate: 0 }),
  GetSecretValue: ({ VersionStage }) => ({ SecretString: String(VersionStage) }),
};
