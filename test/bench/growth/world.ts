import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { newKeyBeside } from '../../../functions/tasks/ids.ts';
import { type Cloud, startCloud } from '../../../local/cloud.ts';
import { synthApp } from '../../../local/testing.ts';
import { ended, legacySession, modernMessage, POSTED } from '../../support/clients.ts';
import { startIssuer } from '../../support/oidc.ts';

export interface GrowthWorld {
  readonly cloud: Cloud;
  client(sub: string): GrowthClient;
  /** Copies a task that has ended, until its owner has so many. */
  fill(taskId: string, records: number): Promise<void>;
  stop(): Promise<void>;
}

export interface GrowthClient {
  /** Answers with the result and with the milliseconds that the exchange took. */
  ask(method: string, params: object): Promise<Exchange>;
  /** A task that has come so far. */
  until(taskId: string, is: (task: Exchange['result']) => boolean): Promise<void>;
  create(name: string, n: number): Promise<string>;
  /** One page of `tasks/list` (2025-11-25). */
  list(): Promise<number>;
}

export interface Exchange {
  // biome-ignore lint/suspicious/noExplicitAny: results of every method.
  readonly result: any;
  readonly ms: number;
}

/** How many records are written at the same time. */
const BATCH = 25;

/** An embedded cloud of ./app.ts, in memory. */
export async function startGrowthWorld(): Promise<GrowthWorld> {
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-growth-'));
  const issuer = await startIssuer();
  process.env.GROWTH_ISSUER = issuer.url;
  await synthApp('test/bench/growth/app.ts', assembly).finally(() => delete process.env.GROWTH_ISSUER);
  const cloud = await startCloud({ assembly, recordCalls: true, schedules: false, onLog: () => {} });
  const url = `${cloud.url}/mcp`;
  const credentials = { accessKeyId: 'administrator', secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint: cloud.endpoint, region: cloud.region, credentials });
  const db = DynamoDBDocumentClient.from(client);
  const [TableName = ''] = cloud.tables;

  return {
    cloud,
    client(sub) {
      const bearer = () => ({ authorization: `Bearer ${issuer.token({ sub, scope: 'mcp' })}` });
      const ask = async (method: string, params: object): Promise<Exchange> => {
        const { body, headers } = modernMessage(method, { ...params });
        const request = { method: 'POST', headers: strings({ ...POSTED, ...headers, ...bearer() }) };
        const begun = performance.now();
        const response = await fetch(url, { ...request, body: JSON.stringify(body) });
        const text = await response.text();
        const ms = performance.now() - begun;
        const { result, error } = JSON.parse(text);
        if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
        return { result, ms };
      };
      const until: GrowthClient['until'] = async (taskId, is) => {
        while (!is((await ask('tasks/get', { taskId })).result)) await new Promise((done) => setTimeout(done, 50));
      };
      return {
        ask,
        until,
        async create(name, n) {
          const { taskId } = (await ask('tools/call', { name, arguments: { n } })).result;
          await until(taskId, (task) => ended(task) || task.status === 'input_required');
          return taskId;
        },
        async list() {
          const session = await legacySession(url, undefined, undefined, bearer());
          const begun = performance.now();
          const { body } = await session.request('tasks/list', {}, bearer());
          const ms = performance.now() - begun;
          if (body.result.tasks.length === 0) throw new Error('an empty page');
          return ms;
        },
      };
    },
    async fill(taskId, records) {
      const found = await db.send(
        new QueryCommand({
          TableName,
          IndexName: 'status',
          KeyConditionExpression: '#status = :completed',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':completed': 'completed' },
        }),
      );
      const entry = found.Items?.find((item) => item.taskId === taskId);
      if (entry === undefined) throw new Error(`${taskId} is not in the index`);
      const { owner } = entry as { owner: string };
      const { Item } = await db.send(new GetCommand({ TableName, Key: { owner, taskId } }));
      for (let left = records - 1; left > 0; left -= BATCH) {
        const puts = Array.from({ length: Math.min(left, BATCH) }, () => ({
          // Older than the tasks that are measured.
          PutRequest: { Item: { ...Item, ...newKeyBeside({ owner, taskId }, Item?.createdAt - left) } },
        }));
        await db.send(new BatchWriteCommand({ RequestItems: { [TableName]: puts } }));
      }
    },
    async stop() {
      await cloud.stop();
      await issuer.stop();
      rmSync(assembly, { recursive: true, force: true });
    },
  };
}

function strings(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
