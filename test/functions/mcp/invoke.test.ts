import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { invoker } from '../../../functions/mcp/invoke.ts';
import type { ToolEntry } from '../../../functions/mcp/manifest.ts';

/** What Lambda answers next; undefined: nothing. */
let next: { status: number; headers?: Record<string, string>; body: string } | undefined;
const seen: { method?: string | undefined; url?: string | undefined; body: string }[] = [];
/** Of the last request. */
let authorization: string | undefined;
const sockets = new Set<Socket>();
const server = createServer(async (request, response) => {
  authorization = request.headers.authorization;
  sockets.add(request.socket);
  seen.push({ method: request.method, url: request.url, body: String(await buffer(request)) });
  if (next !== undefined) response.writeHead(next.status, next.headers).end(next.body);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The first call loads it. The timeout of a tool includes that.
  await import('#mcp-task-server/lambda');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
});
afterEach(() => void vi.unstubAllEnvs());

const tool: ToolEntry = {
  ...{ name: 'x', description: 'd', inputSchema: { type: 'object' }, taskSupport: 'forbidden' },
  ...{ timeout: 5_000, function: 1 },
};
const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
function invokerOf(answer: typeof next) {
  next = answer;
  seen.length = 0;
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', origin());
  return invoker(['first', 'arn:aws:lambda:eu:1:function:x']);
}
const invoke = (answer: typeof next, timeout = 5_000) => invokerOf(answer)({ ...tool, timeout }, '{"n":1}');
const failed = (body: string) => invoke({ status: 200, headers: { 'x-amz-function-error': 'Unhandled' }, body });

describe('a direct tool', () => {
  test('is invoked once, by its own name, with its event; its text is the answer', async () => {
    expect(await invoke({ status: 200, body: '{"a":1}' })).toEqual({ text: '{"a":1}' });
    const url = '/2015-03-31/functions/arn%3Aaws%3Alambda%3Aeu%3A1%3Afunction%3Ax/invocations';
    expect(seen).toEqual([{ method: 'POST', url, body: '{"n":1}' }]);
    expect(authorization).toContain('/eu-central-1/lambda/aws4_request');
  });

  test('uses each connection once: a kept one may die while Lambda freezes the container', async () => {
    const call = invokerOf({ status: 200, body: '1' });
    sockets.clear();
    for (const answered of [1, 2, 3]) {
      await call(tool, '{}');
      expect(sockets.size).toBe(answered);
    }
  });

  test('that returns nothing has returned null', async () => {
    expect(await invoke({ status: 200, body: '' })).toEqual({ text: 'null' });
  });

  test.each([
    ['{"errorType": "TypeError","errorMessage":"planted"}', 'TypeError'],
    ['{"errorType" :"TypeError"}', 'TypeError'],
    ['{"errorMessage":"planted"}', 'Lambda.Unknown'],
    [`{"errorType":"${'x'.repeat(101)}"}`, 'Lambda.Unknown'],
    ['{"errorType":"a planted text"}', 'Lambda.Unknown'],
  ])('that fails has an error by its name, and nothing else of it (A-15): %#', async (body, error) => {
    expect(await failed(body)).toEqual({ error });
  });

  test('that Lambda refuses is an error with its status, so that only some are tried again', async () => {
    const headers = { 'x-amzn-errortype': 'TooManyRequestsException' };
    await expect(invoke({ status: 429, headers, body: '' })).rejects.toMatchObject({
      ...{ name: 'TooManyRequestsException', $metadata: { httpStatusCode: 429 } },
    });
    await expect(invoke({ status: 500, body: '' })).rejects.toMatchObject({
      $metadata: { httpStatusCode: 500, attempts: 1 },
    });
    expect(seen).toHaveLength(1);
  });

  test('that takes too long is given up; a lost connection is another error', async () => {
    expect(await invoke(undefined, 100)).toEqual({ error: 'timeout' });
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', 'http://127.0.0.1:1');
    await expect(invoker(['a', 'b'])(tool, '{}')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
