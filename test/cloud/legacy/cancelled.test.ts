import { expect, test } from 'vitest';
import { legacySession, openStream, post } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;

test('a plain call that its client cancels stops with its execution, and gets no answer (B-15)', async () => {
  const client = await legacySession(url());
  const params = { name: 'sleep', arguments: { ms: 20_000 } };
  const stream = await openStream(url(), { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, client.headers);
  const heard: unknown[] = [];
  for await (const { data } of stream.events) {
    if (data !== '') heard.push(data);
    const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    expect(await post(url(), body, client.headers)).toMatchObject({ status: 202, body: '' });
  }
  expect(heard).toEqual([]);
  const [execution] = cloud().stepFunctions.executions();
  expect(execution?.status).toBe('ABORTED');
  expect((await client.request('tasks/list')).body.result.tasks).toMatchObject([{ status: 'cancelled' }]);
});
