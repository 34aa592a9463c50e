import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { synthApp } from '../../template/synth.ts';
import { clientConfig, temporaryDir } from '../fixture.ts';

const assembly = temporaryDir();
beforeAll(() => synthApp('local/test/events/app.ts', assembly));

const open: Cloud[] = [];
afterAll(() => Promise.all(open.map((cloud) => cloud.stop())));

/** A minute is a second at `timeScale` 60. */
async function start(options: { timeScale?: number; schedules?: boolean }) {
  const heard: { name: string; event: Record<string, never>; at: number }[] = [];
  const onLog = (_source: string, line: string) => {
    const [, name, json] = /(\w+) (\{"(?:version|fail)".*\})$/.exec(line) ?? [];
    if (name && json) heard.push({ name, event: JSON.parse(json), at: performance.now() });
  };
  const cloud = await startCloud({ assembly, onLog, ...options });
  open.push(cloud);
  const by = (listener: string) => heard.filter(({ name }) => name === listener);
  return { cloud, heard, by, queue: (name: string) => cloud.queues.get(cloud.outputs[`${name}Name`] ?? '') ?? [] };
}

test('a schedule runs at its rate, scaled; a disabled one does not', async () => {
  const begun = performance.now();
  const { heard, by } = await start({ timeScale: 60 });
  // Not scaled, four of them would take four minutes.
  await expect.poll(() => by('Ticker').length).toBeGreaterThanOrEqual(4);
  expect((by('Ticker')[3]?.at ?? 0) - begun).toBeGreaterThan(3_900);
  expect(new Set(heard.map(({ name }) => name))).toEqual(new Set(['Ticker']));
});

test('an execution that fails reaches the targets of its rule, and no others', async () => {
  const { cloud, heard, by } = await start({ schedules: false });
  const sfn = new SFNClient(clientConfig(cloud));
  const run = (name: string, input: object) =>
    sfn.send(
      new StartExecutionCommand({ stateMachineArn: cloud.outputs.MachineArn, name, input: JSON.stringify(input) }),
    );
  await run('good', { fail: false });
  const { executionArn } = await run('bad', { fail: true });
  await expect.poll(() => by('Watcher')).toHaveLength(1);
  expect(heard).toHaveLength(1);
  expect(heard[0]?.event).toMatchObject({
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    resources: [executionArn],
    detail: { name: 'bad', status: 'FAILED', input: '{"fail":true}', error: 'Broken', cause: 'on purpose' },
  });
});

test('a function that fails is invoked again; then its event goes to the failure destination', async () => {
  const { cloud, by, queue } = await start({ timeScale: 60, schedules: false });
  const [result] = await cloud.schedules.fire('Broken');
  expect(result?.functionError).toBe('Unhandled');
  expect(by('Thrower')).toHaveLength(1);
  await expect.poll(() => queue('Failures')).toHaveLength(1);
  const [first, second, ...more] = by('Thrower').map(({ at }) => at);
  expect(more).toEqual([]);
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(950);
  expect(JSON.parse(queue('Failures')[0]?.body ?? '')).toMatchObject({
    version: '1.0',
    requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 2 },
    requestPayload: { fail: true },
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    responsePayload: { errorType: 'TypeError', errorMessage: 'on purpose' },
  });
  // EventBridge has delivered the event: a failure of the function does not concern it.
  expect(queue('Undelivered')).toEqual([]);
});

test('a schedule can be fired and waited for; a stopped cloud runs none', async () => {
  const { cloud, by } = await start({ timeScale: 600, schedules: true });
  const results = await cloud.schedules.fire('Tick');
  expect(results).toMatchObject([{ statusCode: 200, payload: '"heard"' }]);
  await cloud.stop();
  const { length } = by('Ticker');
  expect(length).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(by('Ticker')).toHaveLength(length);
});

test('an event of a client on a bus reaches a function and a queue', async () => {
  const { cloud, by, queue } = await start({ schedules: false });
  const client = new EventBridgeClient(clientConfig(cloud));
  const entry = (total: number) => ({
    EventBusName: cloud.outputs.BusName,
    Source: 'shop',
    DetailType: 'Order Placed',
    Detail: JSON.stringify({ total }),
  });
  await client.send(new PutEventsCommand({ Entries: [entry(10), entry(11)] }));
  await expect.poll(() => by('Packer')).toHaveLength(1);
  await expect.poll(() => queue('Orders')).toHaveLength(1);
  expect(by('Packer')[0]?.event).toMatchObject({ source: 'shop', detail: { total: 11 } });
  expect(JSON.parse(queue('Orders')[0]?.body ?? '')).toEqual(by('Packer')[0]?.event);
});
