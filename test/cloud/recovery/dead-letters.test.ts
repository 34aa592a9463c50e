import { expect, test } from 'vitest';
import { EVENT, useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';

const MINUTE = 60_000;
const STOPPED = {
  status: 'failed',
  error: { code: -32603, message: 'The run of the tool ended without a result', data: { reason: 'States.TaskFailed' } },
};
/** Lambda's pauses of one and two minutes are a second or two. */
const { cloud, start, get, stopRun, sweepAfter } = useCrashCloud({ timeScale: 100 });
const letters = () => [...cloud().queues.values()].flat();

/** A task that the sweep has seen at work, and then not for minutes; its run is stopped as by an operator. */
async function stopped(prepare: () => void): Promise<string> {
  const taskId = await start('spin', { file: '/dev/null' });
  await sweepAfter(MINUTE);
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  prepare();
  await stopRun(taskId);
  return taskId;
}

test('every try of the handler failed: the sweep settles the task of its letter (row 13)', async () => {
  const taskId = await stopped(() => {
    const denied = { error: 'AccessDeniedException', status: 400 };
    const read = { service: 'dynamodb', operation: 'GetItem', caller: 'ServerReconcilerFunction' } as const;
    cloud().faults.add({ ...read, do: denied, times: 3 });
  });
  await expect.poll(() => letters().length).toBe(1);
  const letter = JSON.parse(letters()[0]?.body ?? '');
  expect(letter).toMatchObject({
    requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 3 },
    requestPayload: { detail: { name: `${taskId}-r1`, status: 'ABORTED' } },
    responseContext: { functionError: 'Unhandled' },
  });
  expect(await get(taskId)).toMatchObject({ status: 'working' });
  await sweepAfter(5 * MINUTE);
  expect(await get(taskId)).toMatchObject(STOPPED);
  // No part of the server reads or needs it.
  expect(letters()).toHaveLength(1);
});

test('EventBridge could not deliver the event: the sweep settles the task (row 13)', async () => {
  const before = letters().length;
  const taskId = await stopped(() => {
    const gone = { error: 'ResourceNotFoundException', status: 404 };
    cloud().faults.add({ ...EVENT, do: gone });
  });
  await expect.poll(() => letters().length).toBe(before + 1);
  expect(letters().at(-1)?.attributes).toMatchObject({ ERROR_CODE: 'NO_RESOURCE' });
  await sweepAfter(5 * MINUTE);
  expect(await get(taskId)).toMatchObject(STOPPED);
});
