import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { create, type Held, legacyTask, listen, request } from '../../bench/waiting/client.ts';
import { ended, poll } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud('assembly', { maxWorkersPerFunction: 2 });
const url = () => `${cloud().url}/mcp`;
const single = useCloud('assembly', { maxWorkersPerFunction: 2, sharedWorkers: false });
const usual = useCloud('assembly');
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

test('40 held streams, 2 workers: calls are answered, a new task runs, each stream ends well', async () => {
  const file = join(temporaryDir(), 'released');
  const [taskId, open] = await Promise.all([create(url(), 'hold', { file }), legacyTask(url(), 'hold', { file })]);
  const streams: Held[] = [...times(20, () => listen(url(), taskId)), ...times(20, open)];
  await Promise.all(streams.map(({ acknowledged }) => acknowledged));
  let over = 0;
  const results = streams.map(async ({ result }) => {
    const last = await result;
    over++;
    return last;
  });
  expect((await request(url(), 'tools/list')).tools.length).toBeGreaterThan(10);
  expect(over).toBe(0);
  const later = await create(url(), 'echo', { still: 'here' });
  expect(over).toBe(0);
  writeFileSync(file, '');
  for (const result of await Promise.all(results)) expect(result).toBeDefined();
  expect((await poll(url(), later, ended)).status).toBe('completed');
  const endpoint = cloud()
    .lambda.workers()
    .find(({ functionName }) => functionName.includes('ServerEndpoint'));
  expect(endpoint?.count).toBeLessThanOrEqual(2);
});

/** A busy endpoint refuses some of 200 calls at once, which their clients send again. */
async function created(...call: Parameters<typeof create>): Promise<string> {
  for (;;) {
    const taskId: string | undefined = await create(...call).catch(() => undefined);
    if (taskId !== undefined) return taskId;
    await sleep(250);
  }
}

test('200 runs of a function wait: one more of it completes while all of them work', async () => {
  const at = `${usual().url}/mcp`;
  const file = join(temporaryDir(), 'released');
  const held = await Promise.all(times(200, () => created(at, 'hold', { file })));
  const tools = () =>
    usual()
      .lambda.workers()
      .find(({ functionName }) => functionName.includes('Tools'));
  // On a busy machine a run may have begun twice.
  await expect.poll(() => tools()?.busy, { interval: 20 }).toBeGreaterThanOrEqual(200);
  const more = await created(at, 'echo', { still: 'here' });
  expect((await poll(at, more, ended)).status).toBe('completed');
  expect(tools()?.busy).toBeGreaterThanOrEqual(200);
  writeFileSync(file, '');
  const all = await Promise.all(held.map((taskId) => poll(at, taskId, ended)));
  expect(all.map(({ status }) => status)).toEqual(times(200, () => 'completed'));
});

test('110 reads in 2 workers: DynamoDB has all of them at once, and none waits for a socket', async () => {
  const taskId = await create(url(), 'sleep', { ms: 1 });
  await request(url(), 'tasks/get', { taskId });
  const all = Promise.withResolvers<void>();
  let come = 0;
  const hold = () => {
    come++;
    if (come === 110) all.resolve();
    return all.promise;
  };
  cloud().faults.add({ service: 'dynamodb', caller: 'ServerEndpoint', times: 110, do: { run: hold } });
  const answers = await Promise.all(times(110, () => request(url(), 'tasks/get', { taskId })));
  expect(answers.filter((answer) => answer.taskId === taskId)).toHaveLength(110);
});

test('each stream has a worker to itself where sharing is switched off, as on AWS', async () => {
  const at = `${single().url}/mcp`;
  const taskId = await create(at, 'sleep', { ms: 3_000 });
  const held = times(2, () => listen(at, taskId));
  await Promise.all(held.map(({ acknowledged }) => acknowledged));
  const third = listen(at, taskId).acknowledged.then(() => 'the third is acknowledged');
  const first = Promise.race(held.map(({ result }) => result)).then(() => 'a worker is free');
  expect(await Promise.race([third, first])).toBe('a worker is free');
  expect(await third).toBe('the third is acknowledged');
});
