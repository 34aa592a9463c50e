import { afterAll, beforeAll, expect, test } from 'vitest';
import { RECEIVERS_HERE } from '../../../local/marks.ts';
import { modernRequest } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { startReceiver } from './receiver.ts';

const assembly = useAssembly('test/cloud/events/app.ts');
const cloud = useCloud('assembly', { assembly, variables: RECEIVERS_HERE, movableClock: true });
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver?.stop());

const authorization =
  'AWS4-HMAC-SHA256 Credential=ann/20260409/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0';
const request = async (method: string, params: Record<string, unknown>) =>
  (await modernRequest(`${cloud().url}/mcp`, method, params, { headers: { authorization } })).body;

test('the end of a task reaches its subscriber, signed, once the owner is silent for 90 seconds', async () => {
  const { url, secret } = receiver;
  const delivery = { mode: 'webhook', url, secret };
  const wanted = { name: 'task.finished', arguments: { tool: 'sleep' }, delivery };
  const { result: subscription } = await request('events/subscribe', wanted);
  expect(subscription).toMatchObject({ id: expect.stringMatching(/^sub_/), truncated: false });
  const call = { service: 'sqs', operation: 'ChangeMessageVisibility', at: 'after' } as const;
  const held = cloud().faults.add({ ...call, do: { run: () => {} } });
  const { result: other } = await request('tools/call', { name: 'echo', arguments: { text: 'hello' } });
  const { result: task } = await request('tools/call', { name: 'sleep', arguments: { ms: 1, secret: 'gold' } });

  const { VisibilityTimeout } = (await held.struck).input;
  expect(VisibilityTimeout).toBeGreaterThan(60);
  expect(VisibilityTimeout).toBeLessThanOrEqual(90);
  expect(receiver.received).toEqual([]);
  cloud().clock.advance(90_000);
  const [{ headers, body } = { headers: {}, body: {} }] = await receiver.until(1);
  const { taskId } = task;
  expect(body).toMatchObject({ name: 'task.finished', data: { taskId, tool: 'sleep', status: 'completed' } });
  expect(headers).toMatchObject({ 'webhook-id': body.eventId, 'x-mcp-subscription-id': subscription.id });
  expect(JSON.stringify(body)).not.toMatch(new RegExp(`gold|${other.taskId}`));
});
