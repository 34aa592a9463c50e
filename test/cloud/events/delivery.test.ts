import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RECEIVERS_HERE } from '../../../local/marks.ts';
import { environment, operatorOn } from '../../bin/tasks/mcp/client.ts';
import { verbsOn } from '../../bin/tasks/verbs.ts';
import { modernRequest } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { startReceiver } from './receiver.ts';

const assembly = useAssembly('test/cloud/events/app.ts');
const cloud = useCloud('assembly', { assembly, variables: RECEIVERS_HERE, movableClock: true });
/** The cursor from before all events. */
let beginning: string;
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
  beginning = subscription.cursor;
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

/** Read and write units that a function took. @param of whose input has this */
function unitsOf(name: string, mark = 0, of = ''): readonly [number, number] {
  const all = cloud().calls.since(mark);
  const own = all.filter(
    ({ service, caller, input }) =>
      service === 'dynamodb' && caller.startsWith(name) && JSON.stringify(input).includes(of),
  );
  const units = (write: boolean) =>
    own
      .filter(({ operation }) => /^(Update|Put|Delete)Item$/.test(operation) === write)
      .reduce((sum, { consumed }) => sum + (consumed?.table ?? 0) + (consumed?.index ?? 0), 0);
  return [units(false), units(true)];
}

test('a match and a delivery cost a write unit each, a fan-out one for all events of the moment', async () => {
  while ([...cloud().queues.values()].some(({ length }) => length > 0)) await setTimeout(10);
  const unitsIn = (of: string) => unitsOf('ServerEventsFunction', 0, of);
  expect(unitsIn('#sub#')[1]).toBe(2);
  // Of two events.
  expect([1, 2]).toContain(unitsIn('#fanned-out')[1]);
  // It was held once. An event is read from the log, or from its head, which takes one or two more.
  expect(unitsOf('ServerEventsFunction')[0]).toBeLessThanOrEqual(20);
});

test('a new event costs the stream two read units and a write unit, the fan-out five and two', async () => {
  const mark = cloud().calls.mark();
  await request('tools/call', { name: 'sleep', arguments: { ms: 1 } });
  const isInLog = () =>
    cloud()
      .calls.since(mark)
      .some(({ operation, input, consumed }) => {
        return operation === 'PutItem' && consumed !== undefined && JSON.stringify(input).includes('#event#');
      });
  await expect.poll(isInLog).toBe(true);
  expect(unitsOf('ServerTaskEventsFunction', mark)).toEqual([2, 1]);
  // The fan-out reads how far it is, and two partitions twice, deletes the event and notes how far it is.
  await expect.poll(() => unitsOf('ServerEventsFunction', mark, 'events#new#')).toEqual([5, 2]);
  // Once for each time that the event is held: a receiver refuses what is signed five minutes ahead of its clock.
  let moved = 0;
  const received = () => {
    const calls = cloud().calls.since(mark);
    if (calls.filter(({ operation }) => operation === 'ChangeMessageVisibility').length > moved) {
      moved++;
      cloud().clock.advance(90_000);
    }
    return receiver.received.length;
  };
  await expect.poll(received, { interval: 200 }).toBe(2);
});

test('a start whose request has died is completed by the next event of its owner (H-21)', async () => {
  const mark = cloud().calls.mark();
  const { url, secret } = receiver;
  const delivery = { mode: 'webhook', url: `${url}&later`, secret };
  const lost = cloud().faults.add({
    ...{ service: 'dynamodb', operation: 'PutItem', caller: 'ServerEndpoint', times: 9 },
    when: ({ input }) => JSON.stringify(input).includes('#event#'),
    do: { error: 'ValidationException' },
  });
  const wanted = { name: 'task.finished', arguments: { tool: 'sleep' }, delivery };
  const { error } = await request('events/subscribe', { ...wanted, cursor: beginning });
  expect([error.code, lost.hits]).toEqual([-32603, 1]);
  lost.remove();
  await request('tools/call', { name: 'sleep', arguments: { ms: 1 } });
  const entries = () =>
    cloud()
      .calls.since(mark)
      .filter(({ operation, caller, input }) => {
        const isPut = operation === 'PutItem' && caller.startsWith('ServerEventsFunction');
        return isPut && JSON.stringify(input).includes('#event#');
      }).length;
  await expect.poll(entries).toBe(2);
  await request('events/unsubscribe', wanted);
});

describe('an operator', () => {
  const [reader, actor, auditor] = ['Reader', 'Actor', 'Auditor'].map((role) => verbsOn(cloud, role)) as [
    ReturnType<typeof verbsOn>,
    ReturnType<typeof verbsOn>,
    ReturnType<typeof verbsOn>,
  ];
  const taskId = () => String(Object(receiver.received[0]?.body.data).taskId);
  const id = () => receiver.received[0]?.headers['x-mcp-subscription-id'] ?? '';

  test('sees with the read policy which subscription has the event of a task, and no URL', async () => {
    const { code, json, out } = await reader('show', taskId(), '--json');
    expect([code, json().deliveries]).toMatchObject([
      0,
      [{ event: 'task.finished', subscription: id(), state: 'done' }],
    ]);
    const { code: listed, out: list } = await reader('subscriptions', taskId());
    expect([listed, list]).toEqual([0, expect.stringMatching(`${id()}.*task.finished.*tool=sleep.*last sent`)]);
    expect(out + list).not.toContain('127.0.0.1');
    expect(await reader('subscriptions', taskId(), '--payload')).toMatchObject({ code: 1 });
    const { out: whole } = await auditor('subscriptions', taskId(), '--payload');
    expect(whole).toContain(new URL(receiver.url).host);
    expect(whole).not.toContain('key=1');
  });

  test('sees it by the tools of tasks mcp, too: with the right to payloads also where it goes', async () => {
    const stack = ['--stack', cloud().stacks[0] ?? ''];
    const { call, client } = await operatorOn([...stack, '--payload'], environment(cloud(), 'Auditor'));
    const { data, text } = await call('list_subscriptions', { taskId: taskId() });
    expect(data).toEqual((await reader('subscriptions', taskId(), '--json')).json());
    expect(text).toBe(`${data.owner} has 1 subscription.`);
    expect(data.subscriptions).toMatchObject([{ id: id(), name: 'task.finished', arguments: { tool: 'sleep' } }]);
    const seen = await call('list_subscriptions', { owner: data.owner, payload: true });
    expect(seen.data.subscriptions).toMatchObject([{ id: id(), url: receiver.url.replace('?key=1', '') }]);
    expect(await call('list_subscriptions')).toMatchObject({
      isError: true,
      text: expect.stringContaining('one task'),
    });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).not.toContain('end_subscription');
  });

  test('ends one by a tool of tasks mcp, with --allow-writes', async () => {
    const { owner } = (await reader('show', taskId(), '--json')).json();
    const { url, secret } = receiver;
    const delivery = { mode: 'webhook', url: `${url}&second`, secret };
    const { result: second } = await request('events/subscribe', { name: 'task.asks', delivery });
    const writing = ['--stack', cloud().stacks[0] ?? '', '--allow-writes'];
    const { call, err } = await operatorOn(writing, environment(cloud(), 'Actor'));
    const input = { subscription: second.id, owner, reason: 'INC-8' };
    expect(await call('end_subscription', input)).toMatchObject({ data: { done: true } });
    expect(await call('end_subscription', input)).toMatchObject({ isError: true });
    await expect.poll(err).toMatch(new RegExp(`operator_unsubscribe.*${second.id}.*INC-8.*"via":"mcp"`));
    expect((await reader('subscriptions', '--owner', owner, '--json')).json().subscriptions).toHaveLength(1);
  });

  test('ends a subscription with the act policy, and says so in the audit', async () => {
    const { owner } = (await reader('show', taskId(), '--json')).json();
    const end = ['unsubscribe', id(), '--owner', owner, '--reason', 'INC-7'];
    expect(await reader(...end)).toMatchObject({ code: 1, err: expect.stringContaining('The act policy') });
    const { code, err } = await actor(...end);
    expect([code, err]).toEqual([0, expect.stringMatching(`operator_unsubscribe.*${id()}.*INC-7`)]);
    expect((await reader('subscriptions', taskId())).out).toContain('has none');
    expect((await actor(...end)).err).toContain('no live subscription');
  });
});
