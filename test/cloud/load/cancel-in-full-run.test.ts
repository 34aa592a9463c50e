import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { modernRequest } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';

/** The app that people start from, as it is. */
const cloud = useCloud('assembly', { assembly: useAssembly('bin/app.ts'), schedules: true });

/** Processor time that the cloud and its workers use meanwhile, of one core. */
async function load(ms: number): Promise<number> {
  const [before, start] = [process.cpuUsage(), performance.now()];
  await sleep(ms);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (performance.now() - start);
}

test('a cancelled profile_dataset stops at its next check and writes nothing more (C-25, C-27)', async () => {
  const url = `${cloud().url}/mcp`;
  const args = { sample: 'orders', bootstrap: 1_000 };
  const { body } = await modernRequest(url, 'tools/call', { name: 'profile_dataset', arguments: args });
  const { taskId } = body.result;
  // Slower than the endpoint counts polls: on a busy machine this takes longer than its burst of 300 lasts.
  const message = async () => (await modernRequest(url, 'tasks/get', { taskId })).body.result?.statusMessage ?? '';
  await expect.poll(message, { interval: 250 }).toMatch(/^(?!Read)\S/);
  const [worker] = cloud()
    .lambda.workers()
    .filter(({ busy, functionName }) => busy > 0 && /profile/.test(functionName));
  expect(worker?.busy).toBe(1);

  const mark = cloud().calls.mark();
  await modernRequest(url, 'tasks/cancel', { taskId });
  const busy = () =>
    cloud()
      .lambda.workers()
      .find(({ functionName }) => functionName === worker?.functionName)?.busy;
  await expect.poll(busy, { interval: 20 }).toBe(0);
  expect(await load(500)).toBeLessThan(0.5);

  expect((await modernRequest(url, 'tasks/get', { taskId })).body.result.status).toBe('cancelled');
  const writes = cloud()
    .calls.since(mark)
    .filter(({ service, operation }) => service === 'dynamodb' && /Put|Update|Delete/.test(operation));
  expect(writes.map(({ caller, status }) => [/Endpoint/.test(caller), status])).toEqual([[true, 200]]);
});
