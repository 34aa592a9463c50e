import { expect, test } from 'vitest';
import { deliver } from '../../../functions/event-delivery/deliver.ts';
import type { DeliveryMessage } from '../../../functions/events/ports.ts';
import { eventsStore } from '../../../functions/events/store.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { positionText } from '../../../functions/tasks/table/events/log.ts';
import { createRandom } from '../../../local/testing.ts';
import { createTime } from '../../proofs/deliveries/time.ts';
import { eventsInMemory, finished, OWNER, START } from './support.ts';

const ids = (...numbers: readonly number[]) => numbers.map((n) => finished(n).eventId);
const event = (n: number, more = {}) => ({ at: START, event: finished(n, more) });
const HOUR = 3_600_000;

test('however many events wait, one has a message, and its delivery sends the next', async () => {
  const { writer, subscribe, queue, got } = eventsInMemory();
  await subscribe('sub');
  for (let n = 1; n <= 30; n++) await writer().append(OWNER, event(n));
  expect(queue.sent).toHaveLength(1);
  expect(await got('sub')).toEqual(ids(...Array.from({ length: 30 }, (_, i) => i + 1)));
  expect(queue.sent).toHaveLength(30);
});

test('a replay of many events sends one message, whatever the subscription gets', async () => {
  const { writer, subscribe, queue, got } = eventsInMemory();
  const { last } = await writer().begin(OWNER);
  const most = limits.mcpEvents.replay + 10;
  for (let n = 1; n <= most; n++) await writer().append(OWNER, event(n, { tool: n % 3 === 0 ? 'render' : 'other' }));
  const from = { deliveredTo: positionText(last) };
  await subscribe('sub', from);
  await subscribe('sub_render', { ...from, arguments: { tool: 'render' } });
  expect(queue.sent.map(({ group }) => group.split('/')[0])).toEqual(['sub', 'sub_render']);
  const all = Array.from({ length: most }, (_, i) => i + 1);
  expect(await got('sub')).toEqual(ids(...all.slice(-limits.mcpEvents.replay)));
  expect(await got('sub_render')).toEqual(ids(...all.filter((n) => n % 3 === 0)));
});

test('a replay leaves out what is too old, also between newer events, and later ones never', async () => {
  const { writer, subscribe, got } = eventsInMemory();
  const { last } = await writer().begin(OWNER);
  const at = (n: number, age: number) => event(n, { at: START - age });
  for (const [n, age] of [
    [1, 9],
    [2, 1],
    [3, 9],
    [4, 1],
  ] as const)
    await writer().append(OWNER, at(n, age));
  await subscribe('sub', { deliveredTo: positionText(last) }, writer(), { since: START - 5 });
  await writer().append(OWNER, at(5, 9));
  expect(await got('sub')).toEqual(ids(2, 4, 5));
});

test('an entry that is settled again sends nothing while one before it waits (H-21)', async () => {
  const { writer, subscribe, queue, got } = eventsInMemory();
  await subscribe('sub');
  await subscribe('sub_other', { arguments: { taskId: 't3' } });
  for (const n of [1, 2]) await writer().append(OWNER, event(n));
  // The other one is noted; its message is refused.
  queue.refuses = 1;
  await expect(writer().append(OWNER, event(3))).rejects.toMatchObject({ name: 'LogBusy' });
  await writer().append(OWNER, event(3));
  expect(queue.sent.map(({ group }) => group.split('/')[0])).toEqual(['sub', 'sub_other']);
  expect(await got('sub')).toEqual(ids(1, 2, 3));
  expect(await got('sub_other')).toEqual(ids(3));
});

test('a sender may die before the next message: the repeat of its message sends that (H-21)', async () => {
  const { writer, subscribe, items, got } = eventsInMemory();
  const { createdAt } = await subscribe('sub');
  for (const n of [1, 2, 3]) await writer().append(OWNER, event(n));
  await items.delivered(OWNER, { id: 'sub', createdAt }, positionText(START + 2));
  expect(await got('sub')).toEqual(ids(2, 3));
});

test('events that a subscription may not see any more are left out (H-15)', async () => {
  const { writer, subscribe, items, got, store } = eventsInMemory();
  const { createdAt } = await subscribe('sub', { scopes: ['ops'] });
  for (let n = 1; n <= 25; n++) await writer().append(OWNER, event(n, { scopes: n === 20 ? [] : ['ops'] }));
  await items.changeSubscription(OWNER, { id: 'sub', createdAt }, { scopes: [] }, START);
  expect(await got('sub')).toEqual(ids(20));
  expect(await store.subscription(OWNER, 'sub')).toMatchObject({ deliveredTo: positionText(START + 26) });
  await writer().append(OWNER, event(26));
  expect(await got('sub')).toEqual(ids(20, 26));
});

test('the event of a start comes after what was missed, and once (H-14)', async () => {
  const { writer, subscribe, got } = eventsInMemory();
  const { last } = await writer().begin(OWNER);
  const from = { deliveredTo: positionText(last) };
  await writer().append(OWNER, event(1));
  await subscribe('sub', from, writer(), { event: finished(2) });
  await subscribe('sub_missed', from, writer(), { event: finished(1) });
  for (const n of [2, 3]) await writer().append(OWNER, event(n));
  expect(await got('sub')).toEqual(ids(1, 2, 3));
  expect(await got('sub_missed')).toEqual(ids(1, 2, 3));
});

test('a message that SQS lost is sent again after an hour, at an event or a refresh', async () => {
  for (const sign of ['event', 'refresh'] as const) {
    const { writer, subscribe, items, queue, clock } = eventsInMemory();
    await subscribe('sub');
    let number = 2;
    await writer().append(OWNER, event(1));
    const lost = queue.sent.splice(0);
    clock.now += HOUR - 1;
    const happens = async () => {
      if (sign === 'event') return writer().append(OWNER, event(number++));
      const subscription = await items.subscription(OWNER, 'sub');
      return subscription && writer().revive(OWNER, subscription);
    };
    await happens();
    expect(queue.sent).toEqual([]);
    clock.now += 1;
    await happens();
    expect(queue.sent).toEqual(lost);
    // The next one only an hour later.
    queue.sent.splice(0);
    await happens();
    expect(queue.sent).toEqual([]);
  }
});

test('a hundred writers at once all succeed, each in its place (H-21)', async () => {
  const time = createTime(START);
  const random = createRandom('writers');
  const { writer, subscribe, items, got } = eventsInMemory();
  await subscribe('sub');
  const numbers = Array.from({ length: 100 }, (_, i) => i + 1);
  const step = () => time.sleep(5 + random.number() * 5);
  const pause = (longest: number) => time.sleep(random.number() * longest);
  const failed: unknown[] = [];
  for (const n of numbers) {
    writer(undefined, step, pause)
      .append(OWNER, event(n))
      .catch((error: unknown) => failed.push(error));
  }
  await time.runTo(START + 60_000);
  expect(failed).toEqual([]);
  const logged = (await items.entries(OWNER, 0, 200)).flatMap((entry) => entry.event?.eventId ?? []);
  expect([...logged].sort()).toEqual(ids(...numbers));
  expect(await got('sub')).toEqual(logged);
});

test('a refresh whose message SQS refuses is no reason for the next one to wait', async () => {
  const { writer, subscribe, items, queue, clock } = eventsInMemory();
  await subscribe('sub');
  await writer().append(OWNER, event(1));
  queue.sent.splice(0);
  clock.now += HOUR + 1;
  const refresh = async () => {
    const subscription = await items.subscription(OWNER, 'sub');
    if (subscription !== undefined) await writer().revive(OWNER, subscription);
  };
  queue.refuses = 1;
  await expect(refresh()).rejects.toMatchObject({ name: 'LogBusy' });
  await refresh();
  expect(queue.sent).toHaveLength(1);
});

test('a search for an event that is far behind others rests after 250 of them', async () => {
  const { writer, subscribe, items, queue, context, clock, store } = eventsInMemory();
  await subscribe('sub', { arguments: { tool: 'rare' } });
  const most = 600;
  const rare = (n: number) => event(n, n === 1 || n === most ? { tool: 'rare' } : {});
  for (let n = 1; n <= most; n += 20) {
    await writer().append(OWNER, ...Array.from({ length: 20 }, (_, index) => rare(n + index)));
  }
  let read = 0;
  const { entries } = items;
  items.entries = async (...given) => {
    const page = await entries(...given);
    read += page.length;
    return page;
  };
  const counted = eventsStore({ ...context, items });
  const posts: string[] = [];
  const reads: number[] = [];
  const post = async ({ webhookId }: { readonly webhookId: string }) => {
    posts.push(webhookId);
    return { status: 204, body: '' };
  };
  const its = { store: counted, post, hold: undefined, now: () => clock.now, measure: () => {} };
  for (let n = 0; n < queue.sent.length; n++) {
    const message = JSON.parse(queue.sent[n]?.body ?? '') as DeliveryMessage;
    const verdict = await deliver(message, clock.now, its);
    if (verdict !== 'done') {
      expect(verdict).toEqual({ again: 1_000 });
      clock.now += 1_000;
      expect(await deliver(message, clock.now, its)).toBe('done');
    }
    reads.push(read);
    read = 0;
  }
  expect(posts).toEqual(ids(1, most));
  expect(Math.max(...reads)).toBe(250);
  expect(await store.subscription(OWNER, 'sub')).toMatchObject({ deliveredTo: positionText(START + 1 + most) });
});

test('a subscription that is begun again does not wait for the message of the earlier one', async () => {
  const { clock, writer, subscribe, queue, items, got } = eventsInMemory();
  const first = await subscribe('sub');
  await writer().append(OWNER, event(1));
  // A refresh changes no group.
  await items.changeSubscription(OWNER, first, { refreshBefore: clock.now + 48 * HOUR }, clock.now);
  await writer().append(OWNER, event(2));
  expect(await got('sub')).toEqual(ids(1, 2));
  await items.endSubscription(OWNER, first);
  clock.now += 1_000;
  await subscribe('sub');
  await writer().append(OWNER, event(3));
  expect(await got('sub')).toEqual(ids(1, 2, 3));
  const [one, same, other] = queue.sent.map(({ group }) => group);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});
