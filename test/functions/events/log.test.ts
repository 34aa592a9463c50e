import { expect, test } from 'vitest';
import type { EventLog } from '../../../functions/events/log.ts';
import { positionText } from '../../../functions/tasks/table/events/log.ts';
import { DAY, Died, eventsInMemory, finished, OWNER, START } from './support.ts';

const ids = (...numbers: readonly number[]) => numbers.map((n) => finished(n).eventId);
const event = (n: number, more = {}) => ({ at: START, event: finished(n, more) });

test('an owner for whom nothing listens has no log, at the cost of one read', async () => {
  const { writer, table } = eventsInMemory();
  expect(await writer(2).append(OWNER, event(1))).toBeUndefined();
  expect([...table.items()]).toEqual([]);
});

test('positions have no gaps, and each subscription gets its messages in order (H-19)', async () => {
  const { writer, subscribe, got, items } = eventsInMemory();
  await subscribe('sub_all');
  await subscribe('sub_failed', { arguments: { status: 'failed' } });
  for (const n of [3, 1, 2]) await writer().append(OWNER, event(n, n === 1 ? { status: 'failed' } : {}));
  expect(await got('sub_all')).toEqual(ids(3, 1, 2));
  expect(await got('sub_failed')).toEqual(ids(1));
  const positions = (await items.entries(OWNER, 0, 100)).map(({ position }) => position);
  expect(positions).toEqual(positions.map((_, i) => (positions[0] ?? 0) + i));
});

test('an event that comes again, as the stream does, has one entry and one message (H-18)', async () => {
  const { writer, subscribe, got, items } = eventsInMemory();
  await subscribe('sub');
  for (const n of [1, 2, 1]) await writer().append(OWNER, event(n));
  expect(await items.entries(OWNER, 0, 100)).toHaveLength(3);
  expect(await got('sub')).toEqual(ids(1, 2));
});

test('a writer may die at any step: the repeat, or the next writer, completes it (H-21)', async () => {
  const outcomes = new Set<string>();
  for (let dieAt = 1; dieAt < 24; dieAt++) {
    const { writer, subscribe, got, items } = eventsInMemory();
    await subscribe('sub');
    const died = await writer(dieAt)
      .append(OWNER, event(1))
      .then(
        () => false,
        (error: unknown) => error instanceof Died,
      );
    await writer().append(OWNER, event(2));
    await writer().append(OWNER, event(1));
    const all = await got('sub');
    outcomes.add(`${died} ${all.map((id) => Number(id.slice(4))).join()}`);
    const logged = (await items.entries(OWNER, 0, 9)).flatMap((entry) => entry.event?.eventId ?? []);
    expect(logged).toEqual(all);
  }
  expect([...outcomes].sort()).toEqual(['false 1,2', 'true 1,2', 'true 2,1']);
});

test('writers at the same time give the log and each subscription one order (H-21)', async () => {
  const { writer, subscribe, got, items } = eventsInMemory();
  await subscribe('sub');
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const numbers = [1, 2, 3, 4];
  await Promise.all(numbers.map((n) => writer(undefined, turn).append(OWNER, event(n))));
  const logged = (await items.entries(OWNER, 0, 100)).flatMap((entry) => entry.event?.eventId ?? []);
  expect([...logged].sort()).toEqual(ids(...numbers));
  expect(await got('sub')).toEqual(logged);
});

test('a subscription gets what it missed, then what comes while it starts, in order (H-13)', async () => {
  const { writer, subscribe, got } = eventsInMemory();
  const { last } = await writer().begin(OWNER);
  for (const n of [1, 2, 3]) await writer().append(OWNER, event(n));
  for (let dieAt = 1; dieAt < 12; dieAt++) {
    const id = `sub_${dieAt}`;
    const from = { deliveredTo: positionText(last + 1) };
    await subscribe(id, from, writer(dieAt)).catch(() => {});
    await writer().append(OWNER, event(100 + dieAt));
    // Its client asks again.
    if ((await got(id)).length === 0) await subscribe(id, from);
    const all = await got(id);
    expect(all.slice(0, 2)).toEqual(ids(2, 3));
    expect(all).toEqual([...all].sort());
    expect(all).toContain(finished(100 + dieAt).eventId);
  }
});

test('a subscription that was ended before its start is in the log gets nothing', async () => {
  const { subscribe, items, writer, queue } = eventsInMemory();
  const { createdAt } = await subscribe('sub');
  await items.changeSubscription(OWNER, { id: 'sub', createdAt }, { refreshBefore: 0 }, START);
  await writer().append(OWNER, event(1));
  expect(queue.sent).toEqual([]);
});

test('an event of a tool whose scopes the token lacks is not sent (H-15)', async () => {
  const { writer, subscribe, queue } = eventsInMemory();
  await subscribe('sub_some', { scopes: ['tasks'] });
  await subscribe('sub_ops', { scopes: ['ops'] });
  await writer().append(OWNER, event(1, { scopes: ['ops:deploy'] }));
  expect(queue.sent.map(({ group }) => group.split('/')[0])).toEqual(['sub_ops']);
});

test('delivery reads the event of a start before that is in the log: its message comes first', async () => {
  const { items, subscribe, store, queue } = eventsInMemory();
  items.putEntry = async () => {
    throw new Died();
  };
  await expect(subscribe('sub', {}, undefined, { event: finished(1) })).rejects.toThrow(Died);
  expect(queue.sent).toHaveLength(1);
  const position = positionText(START + 1);
  expect((await store.occurrence(OWNER, position))?.body).toMatchObject({
    eventId: finished(1).eventId,
    name: 'task.finished',
    cursor: position,
    data: { taskId: 't1', tool: 'render', status: 'completed' },
  });
  expect(await store.occurrence(OWNER, positionText(START + 2))).toBeUndefined();
});

const SUB = { ownerKey: OWNER, id: 'sub', createdAt: START };

test('the watermark of a subscription only moves forward; a delivery that works ends its failure', async () => {
  const { store, subscribe, clock } = eventsInMemory();
  await subscribe('sub');
  await store.failed(SUB, 'timeout', 5);
  await store.failed(SUB, 'http_5xx', 9);
  expect(await store.subscription(OWNER, 'sub')).toMatchObject({ failedSince: 5, lastError: 'http_5xx' });
  await store.delivered(SUB, { position: positionText(START + 7), givenUp: true });
  expect(await store.subscription(OWNER, 'sub')).toMatchObject({
    failedSince: 5,
    deliveredTo: positionText(START + 7),
  });
  await store.delivered(SUB, { position: positionText(START + 9) });
  await store.delivered(SUB, { position: positionText(START + 8) });
  const now = await store.subscription(OWNER, 'sub');
  expect(now).toMatchObject({ deliveredTo: positionText(START + 9), lastDeliveryAt: clock.now });
  expect(now).not.toHaveProperty('failedSince');
});

test('a receiver that refuses an event for good is not away any more', async () => {
  const { store, subscribe } = eventsInMemory();
  await subscribe('sub');
  await store.failed(SUB, 'timeout', 5);
  await store.delivered(SUB, { position: positionText(START + 7), givenUp: true, answered: true });
  const now = await store.subscription(OWNER, 'sub');
  expect(now).toMatchObject({ deliveredTo: positionText(START + 7) });
  for (const gone of ['failedSince', 'lastError', 'lastDeliveryAt']) expect(now).not.toHaveProperty(gone);
});

test('a delivery that took long is noted until one that did not', async () => {
  const { store, subscribe } = eventsInMemory();
  await subscribe('sub');
  const slowUntil = async () => (await store.subscription(OWNER, 'sub'))?.slowUntil;
  await store.delivered(SUB, { position: positionText(START + 7), slowUntil: START + 9_000 });
  expect(await slowUntil()).toBe(START + 9_000);
  await store.delivered(SUB, { position: positionText(START + 8), givenUp: true });
  expect(await slowUntil()).toBe(START + 9_000);
  await store.delivered(SUB, { position: positionText(START + 9) });
  expect(await slowUntil()).toBeUndefined();
});

test('a subscription is gone for delivery once it may not be sent to', async () => {
  const { store, subscribe, clock } = eventsInMemory();
  const { refreshBefore } = await subscribe('sub');
  clock.now = refreshBefore - 1;
  expect(await store.subscription(OWNER, 'sub')).toMatchObject({ secrets: ['whsec_1'] });
  clock.now = refreshBefore;
  expect(await store.subscription(OWNER, 'sub')).toBeUndefined();
});

test('an attempt that ends after its subscription was begun again leaves no trace at the new one', async () => {
  const { clock, store, writer, subscribe, items } = eventsInMemory();
  const { deliveredTo } = await subscribe('sub');
  for (const n of [1, 2]) await writer().append(OWNER, event(n));
  await items.changeSubscription(OWNER, SUB, { refreshBefore: clock.now }, clock.now);
  clock.now += 1_000;
  await subscribe('sub', { deliveredTo });
  const before = await store.subscription(OWNER, 'sub');
  await store.failed(SUB, 'timeout', clock.now);
  await store.delivered(SUB, { position: positionText(START + 3) });
  const now = await store.subscription(OWNER, 'sub');
  expect(now).toEqual(before);
  expect(now).not.toHaveProperty('failedSince');
  expect(now).not.toHaveProperty('lastDeliveryAt');
});

test('a subscription that begins again from a cursor gets again what the queue has just had', async () => {
  const { clock, writer, subscribe, items, got, posted } = eventsInMemory();
  const { deliveredTo } = await subscribe('sub');
  for (const n of [1, 2]) await writer().append(OWNER, event(n));
  expect(await got('sub')).toEqual(ids(1, 2));
  await items.changeSubscription(OWNER, SUB, { refreshBefore: clock.now }, clock.now);
  clock.now += 1_000;
  await subscribe('sub', { deliveredTo });
  expect(await got('sub')).toEqual(ids(1, 2, 1, 2));
  expect(posted.map(({ createdAt }) => createdAt)).toEqual([START, START, START + 1_000, START + 1_000]);
});

test('an entry is kept longer than any subscription, and the head of the log longer than that', async () => {
  const { writer, table } = eventsInMemory(1);
  await writer().begin(OWNER);
  await writer().append(OWNER, event(1));
  const lives = [...table.items()].map(({ expiresAt }) => (Number(expiresAt?.N) * 1_000 - START) / DAY);
  // The entry, the head, and how far the log is fanned out.
  expect(lives.toSorted((a, b) => a - b)).toEqual([15, 45, 45]);
});

test('a message that SQS refuses keeps its event out of the log, until a repeat sends it (H-21)', async () => {
  const { writer, subscribe, queue, items, got } = eventsInMemory();
  await subscribe('sub');
  queue.refuses = 1;
  await expect(writer().append(OWNER, event(1))).rejects.toMatchObject({ name: 'LogBusy' });
  expect((await items.entries(OWNER, 0, 9)).flatMap((entry) => entry.event ?? [])).toEqual([]);
  await writer().append(OWNER, event(1));
  expect(await got('sub')).toEqual(ids(1));
});

test('a start gives way to events: it pauses longer, and ends sooner (H-21)', async () => {
  const { writer, items } = eventsInMemory();
  await writer().begin(OWNER);
  items.advance = async () => false;
  const pausesOf = async (entry: Parameters<EventLog['append']>[1]) => {
    const pauses: number[] = [];
    const log = writer(undefined, undefined, async (longest) => void pauses.push(longest));
    await expect(log.append(OWNER, entry)).rejects.toMatchObject({ name: 'LogBusy', data: { reason: 'Unavailable' } });
    return pauses;
  };
  const start = { id: 'sub', createdAt: START, after: 0, since: 0 };
  expect(await pausesOf({ at: START, start })).toEqual(Array(5).fill(1_600));
  const pauses = await pausesOf(event(1));
  expect([pauses.length, pauses[0], Math.max(...pauses)]).toEqual([20, 20, 2_000]);
});

test('a start waits until another one is 200 ms old, or an event came behind it (H-21)', async () => {
  const { writer, items, clock } = eventsInMemory();
  const begin = async (id: string, moves: number) => {
    let paused = 0;
    const log = writer(undefined, undefined, async () => {
      clock.now += moves;
      paused++;
    });
    await log.append(OWNER, { at: clock.now, start: { id, createdAt: START, after: 0, since: 0 } });
    return paused;
  };
  await writer().begin(OWNER);
  expect([await begin('a', 0), await begin('b', 50), await begin('c', 100)]).toEqual([0, 4, 2]);
  await writer().append(OWNER, event(1));
  expect(await begin('d', 0)).toBe(0);
  // The clock of the container that began it is ahead.
  clock.now -= 5_000;
  expect(await begin('e', 50)).toBe(4);
  expect(await items.entries(OWNER, 0, 9)).toHaveLength(6);
});

test('a poll misses no event that comes into the log between its two reads', async () => {
  const { writer, items } = eventsInMemory();
  const { last } = await writer().begin(OWNER);
  const { head, putEntry } = items;
  items.head = async (owner) => {
    items.head = head;
    await writer().append(OWNER, event(1));
    // Its writer dies after it has its position.
    items.putEntry = async () => {
      throw new Died();
    };
    await expect(writer().append(OWNER, event(2))).rejects.toThrow(Died);
    items.putEntry = putEntry;
    return head(owner);
  };
  const page = await writer().read(OWNER, last, 9);
  expect([page.truncated, page.entries.map((one) => one.event?.eventId)]).toEqual([false, ids(1)]);
});
