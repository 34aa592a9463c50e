import { setTimeout as sleep } from 'node:timers/promises';
import { GetSecretValueCommand, RotateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from 'vitest';
import { clientConfig } from '../../../local/test/fixture.ts';
import { FORMS, legacySession, modernRequest, post } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

// One worker for the endpoint: the warm one of the test.
const cloud = useCloud('assembly', { movableClock: true, maxWorkersPerFunction: 1 });
const url = () => `${cloud().url}/mcp`;
const HOUR = 3_600_000;

const secrets = () => new SecretsManagerClient(clientConfig(cloud()));
const SecretId = () => cloud().secrets[0];
const current = async () => (await secrets().send(new GetSecretValueCommand({ SecretId: SecretId() }))).SecretString;

/** Rotates as Secrets Manager does by its schedule. */
async function rotate() {
  const before = await current();
  await secrets().send(new RotateSecretCommand({ SecretId: SecretId() }));
  while ((await current()) === before) await sleep(10);
}

const freshWorker = () => {
  const [{ functionName = '' } = {}] = cloud()
    .lambda.workers()
    .filter(({ functionName }) => functionName.includes('ServerEndpoint'));
  cloud().lambda.kill(functionName);
};

/** The tokens that clients hold, each with the check whether it is still valid. */
async function holdings(tasks = 0) {
  const { headers, request } = await legacySession(url());
  const creations = Array.from({ length: tasks }, () => request('tools/call', { name: 'echo', task: {} }));
  await Promise.all(creations);
  const cursor = (await request('tasks/list')).body.result.nextCursor;
  const asked = await modernRequest(url(), 'tools/call', { name: 'direct_ask' }, { capabilities: FORMS });
  const { requestState, inputRequests } = asked.body.result;
  const answers = Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: { ok: true } }]);
  const again = { name: 'direct_ask', requestState, inputResponses: Object.fromEntries(answers) };
  const sent = (method: string, params: object) => post(url(), { jsonrpc: '2.0', id: 1, method, params }, headers);
  return {
    cursor,
    session: async () => (await sent('ping', {})).status === 200,
    list: async () => (await sent('tasks/list', { cursor })).body.result !== undefined,
    requestState: async () =>
      (await modernRequest(url(), 'tools/call', again, { capabilities: FORMS })).body.error === undefined,
  };
}

const all = async ({ session, list, requestState }: Awaited<ReturnType<typeof holdings>>) => [
  await session(),
  await list(),
  await requestState(),
];

describe('when the signing key is rotated', () => {
  test('tokens of clients stay valid for one more rotation, in every container', async () => {
    // One more than a page of the list holds.
    const held = await holdings(51);
    expect(held.cursor).toEqual(expect.any(String));
    expect(await all(held)).toEqual([true, true, true]);
    await rotate();
    expect(await all(held)).toEqual([true, true, true]);
    freshWorker();
    expect(await all(held)).toEqual([true, true, true]);

    const since = await holdings();
    await rotate();
    freshWorker();
    expect(await all(held)).toEqual([false, false, false]);
    expect(await all(since)).toEqual([true, true, true]);

    // A container that continues trusts the key that it has read for an hour.
    await rotate();
    expect(await since.session()).toBe(true);
    cloud().clock.advance(HOUR);
    expect(await since.session()).toBe(false);
  });
});
