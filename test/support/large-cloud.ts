import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { temporaryDir } from '../../local/test/fixture.ts';
import { synthApp } from '../../local/testing.ts';
import { type Answer, legacySession, modernMessage, modernRequest, openStream } from './clients.ts';

type Json = Answer['body'];
type Session = Awaited<ReturnType<typeof legacySession>>;

/**
 * An embedded cloud of ./large-app.ts for one test file, with something between its endpoint and S3 that a test can make
 * fail. `large.cloud` may be replaced for a while.
 */
export interface LargeCloud {
  cloud: Cloud;
  s3: 'up' | 'failing' | 'unreachable';
  /** How often the endpoint asked for anything. */
  asked: number;
  readonly assembly: string;
}

export function useLargeCloud(): LargeCloud {
  const large = { s3: 'up', asked: 0, assembly: temporaryDir() } as LargeCloud;
  const between = createServer((incoming, outgoing) => {
    large.asked++;
    if (large.s3 === 'up') pass(large.cloud, incoming, outgoing);
    else if (large.s3 === 'failing') outgoing.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
    else outgoing.destroy();
  });
  beforeAll(async () => {
    await once(between.listen(0, '127.0.0.1'), 'listening');
    process.env.MCP_TEST_S3 = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    await synthApp('test/support/apps/large-app.ts', large.assembly);
    delete process.env.MCP_TEST_S3;
    large.cloud = await startCloud({ assembly: large.assembly, recordCalls: true });
  });
  afterAll(async () => {
    await large.cloud?.stop();
    between.closeAllConnections();
    between.close();
  });
  return large;
}

function pass(cloud: Cloud, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url, headers } = incoming;
  const forwarded = request(`${cloud.endpoint}${url}`, { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(forwarded);
}

/** Requests to the cloud of this moment. */
export function clientsOf(large: LargeCloud) {
  const url = () => `${large.cloud.url}/mcp`;
  const over = (taskId: string) => {
    const status = () => large.cloud.stepFunctions.executions().find(({ name }) => name === `${taskId}-r1`)?.status;
    return expect.poll(status).toBe('SUCCEEDED');
  };
  return {
    url,
    /** The operations of S3 since then. */
    s3Calls: (mark: number) =>
      large.cloud.calls.since(mark).flatMap(({ service, operation }) => (service === 's3' ? [operation] : [])),
    /** A task of 2026-07-28 that is over, without a read of its result. */
    async finished(name: string, args: object): Promise<string> {
      const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
      await over(body.result.taskId);
      return body.result.taskId;
    },
    /** The same in a session of 2025-11-25. */
    async legacyFinished(client: Session, name: string, args: object): Promise<string> {
      const { body } = await client.request('tools/call', { name, arguments: args, task: {} });
      await over(body.result.task.taskId);
      return body.result.task.taskId;
    },
    session: () => legacySession(url()),
    get: async (taskId: string): Promise<Json> => (await modernRequest(url(), 'tasks/get', { taskId })).body,
    /** A call by a client that knows no tasks. */
    plain: async (name: string, args: object): Promise<Json> =>
      (await modernRequest(url(), 'tools/call', { name, arguments: args }, { capabilities: {} })).body,
    /** The notifications of one task that a listener gets. */
    async listen(taskId: string): Promise<Json[]> {
      const { body, headers } = modernMessage('subscriptions/listen', { notifications: { taskIds: [taskId] } });
      const told: Json[] = [];
      for await (const { data } of (await openStream(url(), body, headers)).events) {
        if ((data as Json).method === 'notifications/tasks') told.push((data as Json).params);
      }
      return told;
    },
    /** The key of the last object written, which belongs to this task. */
    keyOf(taskId: string, end = ''): string {
      const { input } = large.cloud.calls.since().findLast(({ operation }) => operation === 'PutObject') ?? {};
      const { Key } = input as { Key: string };
      expect(Key).toMatch(new RegExp(`^results/[0-9a-f]{64}/${taskId}-r1${end}$`));
      return Key;
    },
    /** S3 itself, past the endpoint and its tools. */
    object(method: 'PUT' | 'HEAD' | 'DELETE', key: string, body = '') {
      const headers = {
        authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request',
        'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
      };
      const init = { method, headers, ...(method === 'PUT' && { body }) };
      return fetch(`${large.cloud.endpoint}/${large.cloud.buckets[0]}/${key}`, init);
    },
  };
}

const digest = (value: unknown) =>
  createHash('sha256')
    .update(String(JSON.stringify(value)))
    .digest('hex');

/** The same content to the byte. By digests, as a difference of megabytes cannot be read. */
export function expectSame(seen: Json, wanted: Json): void {
  const parts = (result: Json) => ({
    content: result?.content?.map((block: Json) => ({ type: block.type, digest: digest(block) })) ?? result,
    structuredContent: digest(result?.structuredContent),
    isError: result?.isError,
  });
  expect(parts(seen)).toEqual(parts(wanted));
}
