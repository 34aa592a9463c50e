import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cloud } from '../../../local/cloud.ts';
import { ended, modernRequest } from '../../support/clients.ts';
import { issuer, useIssuer } from '../../support/issuer.ts';
import { startOAuthCloud } from '../../support/oauth-cloud.ts';

useIssuer();

const lines: string[] = [];
let cloud: Cloud;
beforeAll(async () => {
  cloud = await startOAuthCloud(issuer.url, { onLog: (_source, line) => void lines.push(line) });
});
afterAll(() => cloud?.stop());

const headers = () => {
  const claims = { client_id: 'app', email: 'planted-email', phone: 'planted-phone' };
  return { authorization: `Bearer ${issuer.token(claims)}` };
};
const KNOWN = { subject: 'ann', client: 'app', claims: { email: 'planted-email' } };
const forged = { subject: 'forged', claims: { email: 'forged' } };

test.each(['caller', 'direct_echo'])(
  '%s sees subject, client and listed claims; what a client says of it counts for nothing',
  async (name) => {
    const params = { name, arguments: { caller: forged }, caller: forged };
    const options = { headers: headers(), capabilities: {}, meta: { caller: forged } };
    const { body } = await modernRequest(`${cloud.url}/mcp`, 'tools/call', params, options);
    expect(body.result.structuredContent.caller).toEqual(KNOWN);
  },
);

test('the round after an answer has the same caller, and no log, event or task shows it', async () => {
  const ask = async (method: string, params: Record<string, unknown>) =>
    (await modernRequest(`${cloud.url}/mcp`, method, params, { headers: headers() })).body.result;
  const { taskId } = await ask('tools/call', { name: 'ask' });
  const status = async () => (await ask('tasks/get', { taskId })).status;
  await expect.poll(status).toBe('input_required');
  const asked = await ask('tasks/get', { taskId });
  expect(JSON.stringify(asked)).not.toContain('planted-email');
  const [key = ''] = Object.keys(asked.inputRequests);
  await ask('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: { ok: true } } } });
  await expect.poll(async () => ended(await ask('tasks/get', { taskId }))).toBe(true);
  const { result } = await ask('tasks/get', { taskId });
  expect(result.structuredContent).toMatchObject({ round: 2, caller: KNOWN });
  const published = () => cloud.calls.since(0).filter(({ operation }) => operation === 'PutEvents');
  await expect.poll(() => JSON.stringify(published())).toContain('"completed');
  expect(JSON.stringify(published())).not.toContain('planted-email');
  expect(lines.join('\n')).not.toMatch(/planted-email|planted-phone/);
});

test('a result of any size near the bound of a record comes back whole beside a caller (A-17)', async () => {
  // The result holds it twice: from 1,300 bytes to some 1,520.
  for (let length = 600; length <= 710; length += 10) {
    const args = { text: 'r'.repeat(length) };
    const params = { name: 'echo', arguments: args };
    const { body } = await modernRequest(`${cloud.url}/mcp`, 'tools/call', params, {
      headers: headers(),
      capabilities: {},
    });
    expect(body.result.structuredContent, `${length}`).toEqual(args);
  }
});
