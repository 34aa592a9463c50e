import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { clientConfig } from '../fixture.ts';
import { useFaultyCloud } from './bench.ts';

const { cloud, faults, item, write, said, run } = useFaultyCloud();
const killed = 'Runtime exited with error: signal: killed';
const PUT = { service: 'dynamodb', operation: 'PutItem', caller: 'Writer' } as const;

test('a worker that dies before its call has written nothing, and the next event gets a new one', async () => {
  faults().add({ ...PUT, do: 'killWorker' });
  await expect(write({ id: 'before' })).rejects.toThrow(killed);
  expect([said('wrote before'), await item('before')]).toEqual([0, undefined]);
  expect((await write({ id: 'before' })).worker).toBe((await item('before'))?.worker?.S);
});

test('a worker that dies after its call has written without an answer', async () => {
  const death = faults().add({ ...PUT, at: 'after', do: 'killWorker' });
  await expect(write({ id: 'after' })).rejects.toThrow(killed);
  const { worker } = await death.struck;
  expect([said('wrote after'), await item('after')]).toEqual([0, { id: { S: 'after' }, worker: { S: worker } }]);
  expect(await cloud().lambda.killWorker(worker ?? '')).toBe(false);
});

test('only the worker that made the call dies', async () => {
  const others = write({ id: 'other', ms: 400 });
  await expect.poll(() => said('writing other')).toBe(1);
  const concerned = ({ input }: { input: object }) => JSON.stringify(input).includes('concerned');
  faults().add({ ...PUT, when: concerned, do: 'killWorker' });
  await expect(write({ id: 'concerned' })).rejects.toThrow(killed);
  expect((await others).worker).toEqual(expect.any(String));
});

test('a worker may die some time later', async () => {
  faults().add({ service: 'lambda', operation: 'Run', caller: 'Writer', do: { killAfterMs: 150 } });
  const begin = performance.now();
  await expect(write({ id: 'later', ms: 5_000 })).rejects.toThrow(killed);
  expect(performance.now() - begin).toBeGreaterThan(148);
  expect([said('writing later'), said('wrote later')]).toEqual([1, 0]);
});

test('a worker may die, or be held up, before it begins with an event', async () => {
  const RUN = {
    service: 'lambda',
    operation: 'Run',
    when: ({ input }: { input: { id?: unknown } }) => input.id === 'unborn',
  } as const;
  faults().add({ ...RUN, do: 'killWorker' });
  await expect(write({ id: 'unborn' })).rejects.toThrow(killed);
  expect(said('writing unborn')).toBe(0);
  let released = 0;
  const hold = async () => {
    await sleep(150);
    released = performance.now();
  };
  faults().add({ ...RUN, do: { run: hold } });
  const begin = performance.now();
  const { left } = await write({ id: 'unborn' });
  // Its time starts when it begins.
  expect(left).toBeGreaterThan(10_000 - (performance.now() - released) - 100);
  expect(released - begin).toBeGreaterThan(148);
});

test('a machine sees the death of a worker as it does on AWS', async () => {
  faults().add({ ...PUT, do: 'killWorker' });
  expect(await run('killed')).toMatchObject({ status: 'FAILED', error: 'Runtime.ExitError' });
});

test('a process that is not the cloud’s own cannot be killed', async () => {
  expect(() => faults().add({ ...PUT, do: 'killProcess' })).toThrow('a cloud that was started as mortal');
  const always = faults().use(() => 'killProcess');
  const client = new DynamoDBClient({ ...clientConfig(cloud(), 'unknown'), maxAttempts: 1 });
  const put = client.send(new PutItemCommand({ TableName: cloud().outputs.TableName, Item: { id: { S: 'x' } } }));
  await expect(put).rejects.toThrow('the embedded cloud failed');
  always.remove();
});

test('killWorker is refused for a caller without a worker', async () => {
  faults().add({ service: 'dynamodb', caller: 'unknown', do: 'killWorker' });
  const client = new DynamoDBClient({ ...clientConfig(cloud(), 'unknown'), maxAttempts: 1 });
  const put = client.send(new PutItemCommand({ TableName: cloud().outputs.TableName, Item: { id: { S: 'x' } } }));
  await expect(put).rejects.toThrow('the embedded cloud failed');
});
