import { request as httpRequest } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { type Console, startConsole } from '../../../bin/console/server.ts';
import { connect } from '../../../bin/tasks/connect.ts';
import type { Act } from '../../../functions/operator/context.ts';
import type { Cloud } from '../../../local/cloud.ts';
import { resetCredentials, setCredentials } from '../tasks/verbs.ts';

export interface TestConsole {
  readonly url: string;
  readonly token: string;
  readonly port: number;
  readonly acts: readonly Act[];
}

/**
 * A console on the embedded cloud, as on a deployed stack: with credentials of the environment.
 *
 * @param accessKey the logical id of a role, or anything else for an administrator
 */
export function useConsole(cloud: () => Cloud, accessKey = 'administrator', local = true): () => TestConsole {
  let page: Console | undefined;
  const acts: Act[] = [];
  beforeAll(async () => {
    page = await startConsole({
      connect: () => {
        setCredentials(cloud(), accessKey);
        return connect({ stack: cloud().stacks[0] }, { folder: '/', audit: (act) => void acts.push(act) });
      },
      ...{ local, options: '' },
    });
  });
  afterAll(async () => {
    await page?.stop();
    resetCredentials();
  });
  return () => {
    const { url = 'http://127.0.0.1' } = page ?? {};
    const { port, pathname } = new URL(url);
    return { url, token: pathname.split('/')[1] ?? '', port: Number(port), acts };
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape.
  readonly json: () => any;
}

/** One request, with exactly these headers: fetch would set some itself. */
export function send(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const all = { host: `127.0.0.1:${port}`, ...headers };
    const sent = httpRequest({ host: '127.0.0.1', port, path, method, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The headers with which the page itself acts. */
export const acting = ({ port, token }: TestConsole): Record<string, string> => ({
  origin: `http://127.0.0.1:${port}`,
  'content-type': 'application/json',
  'x-console-token': token,
});

let planted = 0;

/** A copy of a record with other attributes, past all checks of the server. Returns its id. */
export async function plant({ endpoint, region, tables }: Cloud, taskId: string, attributes: object): Promise<string> {
  const credentials = { accessKeyId: 'administrator', secretAccessKey: 'test' };
  const db = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region, credentials }));
  const TableName = tables.find((name) => name.includes('Tasks')) ?? tables[0];
  const { Item } = await db.send(new GetCommand({ TableName, Key: { owner: `task#${taskId}`, taskId } }));
  const id = taskId.slice(0, -4) + String(++planted).padStart(4, '0');
  await db.send(new PutCommand({ TableName, Item: { ...Item, ...attributes, owner: `task#${id}`, taskId: id } }));
  return id;
}
