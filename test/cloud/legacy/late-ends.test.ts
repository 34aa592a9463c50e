import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, expect, test } from 'vitest';
import { useCloud } from '../../support/cloud.ts';

/** On AWS a streamed answer without a body may end late. Here it never ends. */
const cloud = useCloud();
const url = () => new URL(`${cloud().url}/mcp`);
beforeAll(() => {
  cloud().faults.use(({ service, at }) =>
    service === 'apigateway' && at === 'before' ? { emptyEndsAfterMs: 3_600_000 } : undefined,
  );
});

test.each([
  ['OPTIONS', 200],
  ['GET', 405],
  ['DELETE', 405],
  ['PUT', 405],
] as const)('%s is answered to its end: %i has a body (A-23, B-06, B-09)', async (method, status) => {
  const answer = await fetch(url(), { method, headers: { origin: 'http://localhost:1' } });
  expect([answer.status, (await answer.text()).length > 0]).toEqual([status, true]);
});

test('the official v1 client waits for no end of a 202: it is asked, and answers (A-06, C-20)', async () => {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { ok: true } }));
  await client.connect(new StreamableHTTPClientTransport(url()));
  const request = { method: 'tools/call', params: { name: 'ask_optional' } };
  expect(await client.request(request, CallToolResultSchema)).toMatchObject({
    structuredContent: { answer: { action: 'accept' } },
  });
  await client.close();
});
