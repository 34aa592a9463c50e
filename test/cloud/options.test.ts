import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cloud } from '../../local/cloud.ts';
import { modernRequest } from '../support/clients.ts';
import { issuer, useIssuer } from '../support/issuer.ts';
import { startOptionsCloud } from '../support/oauth-cloud.ts';

useIssuer();

let cloud: Cloud;
const lines: string[] = [];
beforeAll(async () => {
  cloud = await startOptionsCloud(issuer.url, { movableClock: true, onLog: (_source, line) => void lines.push(line) });
});
afterAll(() => cloud?.stop());

test('a server with every option works, with the rights of its roles', async () => {
  const headers = { authorization: `Bearer ${issuer.token()}` };
  const ask = (method: string, params: Record<string, unknown>) =>
    modernRequest(`${cloud.url}/mcp`, method, params, { headers });
  const direct = await ask('tools/call', { name: 'direct', arguments: {} });
  expect(direct.body.result.content).toEqual([{ type: 'text', text: 'x' }]);
  const { taskId } = (await ask('tools/call', { name: 'work', arguments: { bytes: 200_000 } })).body.result;
  const task = async () => (await ask('tasks/get', { taskId })).body.result;
  await expect.poll(async () => (await task()).status).toBe('completed');
  expect((await task()).result.content[0].text).toHaveLength(200_000);
  // The rule of `onTaskStatusChange` is for this tool, and for the ends of its tasks.
  const told = () => lines.filter((line) => line.includes('told'));
  await expect.poll(() => told().length).toBeGreaterThan(0);
  expect(told()).toEqual([expect.stringMatching(new RegExp(`${taskId}.*completed`))]);
  expect(cloud.calls.since().filter(({ error }) => error?.startsWith('AccessDenied'))).toEqual([]);
});

test('where no tool has scopes, an expired token counts for a minute longer at most (G-04)', async () => {
  const headers = { authorization: `Bearer ${issuer.token({ exp: Math.floor(Date.now() / 1_000) + 30 })}` };
  const status = async () => (await modernRequest(`${cloud.url}/mcp`, 'tools/list', {}, { headers })).status;
  expect(await status()).toBe(200);
  // The token is valid for 30 more seconds, and cached for 60.
  cloud.clock.advance(50_000);
  expect(await status()).toBe(200);
  cloud.clock.advance(11_000);
  expect(await status()).toBe(401);
});
