import { expect, test } from 'vitest';
import type { TaskStatusChange } from '../../../functions/task-events/status-change.ts';
import { objectOf } from '../../../local/testing.ts';
import { ended, modernRequest } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function finished(taskId: string): Promise<void> {
  await expect.poll(async () => ended((await modernRequest(url(), 'tasks/get', { taskId })).body.result)).toBe(true);
}

test('the trace of a call reaches the execution, the tool and the events', async () => {
  const mark = cloud().calls.mark();
  const params = { name: 'event', arguments: {} };
  const { taskId } = (await modernRequest(url(), 'tools/call', params, { meta: { traceparent } })).body.result;
  await finished(taskId);
  const start = cloud()
    .calls.since(mark)
    .find(({ operation }) => operation === 'StartExecution');
  expect(JSON.parse(String(objectOf(start?.input).input))).toMatchObject({ taskId, traceparent });
  const { result } = (await modernRequest(url(), 'tasks/get', { taskId })).body.result;
  expect(JSON.stringify(result)).toContain(traceparent);
  await cloud().streams.drained();
  const published = cloud()
    .events.accepted()
    .map(({ event }) => event.detail as unknown as TaskStatusChange)
    .filter((change) => change.taskId === taskId);
  expect(published.map(({ status, traceparent: trace }) => [status, trace])).toEqual([
    ['working', traceparent],
    ['completed', traceparent],
  ]);
});
