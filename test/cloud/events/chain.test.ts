import { afterAll, beforeAll, expect, test } from 'vitest';
import { RECEIVERS_HERE } from '../../../local/marks.ts';
import { modernRequest } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { startReceiver } from './receiver.ts';

const assembly = useAssembly('test/cloud/events/unheld-app.ts');
const cloud = useCloud('assembly', { assembly, variables: RECEIVERS_HERE });
/** More than the messages of one chain that Lambda allows without `RecursiveLoop`. */
const TASKS = 20;
const { promise: allEnded, resolve: all } = Promise.withResolvers<void>();
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver(() => allEnded.then(() => 204));
});
afterAll(() => receiver?.stop());

const authorization =
  'AWS4-HMAC-SHA256 Credential=ann/20260409/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0';
const request = async (method: string, params: Record<string, unknown>) =>
  (await modernRequest(`${cloud().url}/mcp`, method, params, { headers: { authorization } })).body.result;

test('a receiver that was behind gets 20 events, one after the other (H-14)', async () => {
  const { url, secret } = receiver;
  await request('events/subscribe', { name: 'task.finished', delivery: { mode: 'webhook', url, secret } });
  const call = { name: 'echo', arguments: { text: 'hello' } };
  const tasks = await Promise.all(Array.from({ length: TASKS }, () => request('tools/call', call)));
  const inLog = () =>
    cloud()
      .calls.since()
      .filter(({ operation, input }) => operation === 'PutItem' && JSON.stringify(input).includes('"#event#')).length;
  await expect.poll(inLog).toBeGreaterThanOrEqual(TASKS);
  all();
  const received = await receiver.until(TASKS);
  const ids = received.map(({ body }) => (body.data as { taskId: string }).taskId);
  expect(ids.toSorted()).toEqual(tasks.map(({ taskId }) => taskId).toSorted());
});
