import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventLog } from '../../../functions/events/log.ts';
import { dynamoDb } from '../../../functions/tasks/aws/dynamodb.ts';
import { eventItems, positionText } from '../../../functions/tasks/table/event-items.ts';
import { RECEIVERS_HERE } from '../../../local/marks.ts';
import { modernRequest } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { startReceiver } from './receiver.ts';

const assembly = useAssembly('test/cloud/events/app.ts');
const cloud = useCloud('assembly', { assembly, variables: RECEIVERS_HERE });
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver?.stop());

const HOUR = 3_600_000;
const authorization =
  'AWS4-HMAC-SHA256 Credential=ann/20260409/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0';
const call = async (name: string, args: object) => {
  const params = { name, arguments: args };
  return (await modernRequest(`${cloud().url}/mcp`, 'tools/call', params, { headers: { authorization } })).body.result;
};

/** The items of the table, by which this file subscribes the owner of a task. */
function itemsOfCloud() {
  const { endpoint, region, tables } = cloud();
  const credentials = async () => ({ accessKeyId: 'test', secretAccessKey: 'local' });
  return eventItems(dynamoDb({ requestTimeout: 5_000, attempts: 3, endpoint, region, credentials }), tables[0] ?? '');
}

async function subscribe(id: string): Promise<void> {
  const items = itemsOfCloud();
  const records = cloud().streams.records(cloud().tables[0] ?? '');
  const owners = records.map(({ dynamodb: { Keys } }) => (Keys.owner as { S: string }).S);
  const owner = owners.find((one) => one.startsWith('owner#')) ?? '';
  const now = Date.now();
  await eventLog({ items, now: () => now, kept: HOUR, send: async () => [] }).begin(owner);
  const life = { createdAt: now, refreshBefore: now + HOUR, expiresAt: Math.ceil((now + HOUR) / 1_000) };
  const wanted = { name: 'task.finished', arguments: {}, scopes: [], started: true, deliveredTo: positionText(0) };
  const { url, secret } = receiver;
  await items.createSubscription(owner, { id, ...wanted, ...life, url, secrets: [secret] }, now);
}

test('the end of a task reaches a receiver, signed, and names the task', async () => {
  await call('echo', { text: 'hello' });
  await subscribe('sub_1');
  const { taskId } = await call('sleep', { ms: 1, secret: 'gold' });
  const isOf = ({ body }: { body: Record<string, unknown> }) => JSON.stringify(body).includes(taskId);
  let got: Awaited<ReturnType<typeof receiver.until>> = [];
  while (!got.some(isOf)) got = await receiver.until(got.length + 1);
  const [{ headers, body } = { headers: {}, body: {} }, ...others] = got.filter(isOf);
  expect(others).toEqual([]);
  expect(body).toMatchObject({ name: 'task.finished', data: { taskId, tool: 'sleep', status: 'completed' } });
  expect(JSON.stringify(body)).not.toContain('gold');
  expect(headers).toMatchObject({ 'webhook-id': body.eventId, 'x-mcp-subscription-id': 'sub_1' });
});
