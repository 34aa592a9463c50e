import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { afterEach, expect, test } from 'vitest';
import { clientConfig } from '../../../local/test/fixture.ts';
import { worldOf } from '../../proofs/faults/world.ts';
import { modernRequest } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const MINUTE = 60_000;
const STOPPED = {
  status: 'failed',
  error: { code: -32603, message: 'The run of the tool ended without a result', data: { reason: 'States.TaskFailed' } },
};
/** Lambda's pauses of one and two minutes are a second or two. */
const cloud = useCloud('assembly', { movableClock: true, timeScale: 100 });
afterEach(() => cloud().faults.clear());
const url = () => `${cloud().url}/mcp`;
const letters = () => [...cloud().queues.values()].flat();
const get = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body.result;
async function sweepAfter(ms: number): Promise<void> {
  cloud().clock.advance(ms);
  await worldOf(cloud()).sweep();
}

/** A task that the sweep has seen at work, and then not for minutes; its run is stopped as by an operator. */
async function stopped(prepare: () => void): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name: 'spin', arguments: { file: '/dev/null' } });
  const { taskId } = body.result;
  await sweepAfter(MINUTE);
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  prepare();
  const run = cloud()
    .stepFunctions.executions()
    .find(({ name }) => name.startsWith(taskId));
  await new SFNClient(clientConfig(cloud())).send(new StopExecutionCommand({ executionArn: run?.arn }));
  return taskId;
}

test('every try of the handler failed: the sweep makes good what its dead letter says (row 13)', async () => {
  const taskId = await stopped(() => {
    const denied = { error: 'AccessDeniedException', status: 400 };
    const read = { service: 'dynamodb', operation: 'GetItem', caller: 'ServerReconcilerFunction' } as const;
    cloud().faults.add({ ...read, do: denied, times: 3 });
  });
  await expect.poll(() => letters().length, { timeout: 20_000 }).toBe(1);
  const letter = JSON.parse(letters()[0]?.body ?? '');
  expect(letter).toMatchObject({
    requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 3 },
    requestPayload: { detail: { name: `${taskId}-r1`, status: 'ABORTED' } },
    responseContext: { functionError: 'Unhandled' },
  });
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  await sweepAfter(5 * MINUTE);
  expect(await get(taskId)).toMatchObject(STOPPED);
  // Nothing has read it, and nothing needs it.
  expect(letters()).toHaveLength(1);
});

test('EventBridge could not deliver the event: the sweep settles the task (row 13)', async () => {
  const before = letters().length;
  const taskId = await stopped(() => {
    const gone = { error: 'ResourceNotFoundException', status: 404 };
    cloud().faults.add({ service: 'events', operation: 'Deliver', caller: 'ServerReconcilerRunEnded', do: gone });
  });
  await expect.poll(() => letters().length).toBe(before + 1);
  expect(letters().at(-1)?.attributes).toMatchObject({ ERROR_CODE: 'NO_RESOURCE' });
  await sweepAfter(5 * MINUTE);
  expect(await get(taskId)).toMatchObject(STOPPED);
});
