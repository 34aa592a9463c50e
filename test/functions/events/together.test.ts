import { expect, test } from 'vitest';
import { fanOut } from '../../../functions/events/fan-out.ts';
import type { FifoMessage } from '../../../functions/tasks/aws/sqs.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import { Died, eventsInMemory, finished, OWNER, START } from './support.ts';

const event = (n: number, more = {}) => ({ at: START, event: finished(n, more) });
const ids = (...numbers: readonly number[]) => numbers.map((n) => finished(n).eventId);
/** Does something before each call of a member. */
const before =
  (act: () => void | Promise<void>) =>
  <T extends object>(real: T): T =>
    new Proxy(real, {
      get:
        (of, name) =>
        async (...given: unknown[]) => {
          await act();
          return (of[name as keyof T] as (...args: unknown[]) => unknown)(...given);
        },
    });

test('events that go into the log together keep their order, for each subscription (H-19)', async () => {
  const { writer, subscribe, got, items } = eventsInMemory();
  await subscribe('all');
  await subscribe('some', { arguments: { status: 'failed' } });
  await subscribe('none', { arguments: { taskId: 't9' } });
  const of = (n: number) => event(n, n % 2 === 0 ? { status: 'failed' } : {});
  await writer().append(OWNER, of(1), of(2), of(3), of(4), of(5));
  await writer().append(OWNER, of(6));
  expect([await got('all'), await got('some'), await got('none')]).toEqual([ids(1, 2, 3, 4, 5, 6), ids(2, 4, 6), []]);
  const logged = await items.entries(OWNER, 0, 100);
  expect(logged.flatMap(({ event: one }) => one?.eventId ?? [])).toEqual(ids(1, 2, 3, 4, 5, 6));
});

test('a writer of several may die at any step: nothing is lost, doubled or out of order (H-21)', async () => {
  for (const next of [[7], [1, 2, 3, 7], [3], [7, 2]]) {
    for (let dieAt = 1; dieAt < 26; dieAt++) {
      const { writer, subscribe, got, items } = eventsInMemory();
      for (const id of ['a', 'b']) await subscribe(id, id === 'b' ? { arguments: { status: 'failed' } } : {});
      const of = (n: number) => event(n, n === 3 ? { status: 'failed' } : {});
      await writer(dieAt)
        .append(OWNER, of(1), of(2), of(3))
        .catch(() => {});
      // A delivery may come between the death and the next writer.
      if (dieAt % 2 === 0) await got('a');
      await writer().append(OWNER, ...next.map(of));
      await writer().append(OWNER, of(1), of(2), of(3));
      const logged = (await items.entries(OWNER, 0, 100)).flatMap((entry) => entry.event?.eventId ?? []);
      expect([...logged].sort()).toEqual(ids(...new Set([1, 2, 3, ...next])).sort());
      expect(await got('a')).toEqual(logged);
      expect(await got('b')).toEqual(ids(3));
    }
  }
});

test('a reader of the log sees no entry before all entries in front of it', async () => {
  const { writer, subscribe, items } = eventsInMemory();
  await subscribe('sub');
  const seen = new Set<number>();
  const look = async () => {
    const numbers = (await items.entries(OWNER, 0, 100)).flatMap(
      ({ event: one }) => Number(one?.taskId.slice(1)) || [],
    );
    expect(numbers).toEqual([1, 2, 3, 4].slice(0, numbers.length));
    seen.add(numbers.length);
  };
  await writer(undefined, look).append(OWNER, event(1), event(2), event(3), event(4));
  expect(seen.size).toBeGreaterThan(3);
});

test('events that come again beside new ones have one entry each (H-18)', async () => {
  const { writer, subscribe, got, items } = eventsInMemory();
  await subscribe('sub');
  for (const [a, b] of [
    [1, 2],
    [1, 2],
    [2, 3],
  ] as const)
    await writer().append(OWNER, event(a), event(b));
  expect((await items.entries(OWNER, 0, 9)).length).toBe(4);
  expect(await got('sub')).toEqual(ids(1, 2, 3));
});

test('however many events go into the log together, they cost each subscription one write', async () => {
  const { writer, subscribe, queue } = eventsInMemory();
  for (let n = 0; n < 15; n++) await subscribe(`sub${n}`);
  const { together } = limits.mcpEvents;
  let steps = 0;
  await writer(undefined, async () => void steps++).append(
    OWNER,
    ...Array.from({ length: together }, (_, n) => event(n)),
  );
  // The stream reads the turn, keeps the events, reads the turn and sends a message. That reads the position and the events; gives them
  // their places (head, entry, head, the entries); reads the entries and the subscriptions; writes each of these; sends two batches of
  // messages; deletes the events; writes the position; and looks for more. They were as many as it takes: the same once more. Each look
  // reads two partitions.
  const once = 1 + together + 2 + 1;
  expect(steps).toBe(once + 2 + (3 + together) + 2 + 15 + 2 + together + 1 + 2 + 3 + 2);
  expect(queue.sent).toHaveLength(15);
});

test('while a message waits, later events send one more each five minutes at most', async () => {
  const { clock, writer, subscribe, queue, got } = eventsInMemory();
  for (let n = 0; n < 3; n++) await subscribe(`sub${n}`);
  queue.holds = true;
  for (let n = 1; n <= 20; n++) await writer().append(OWNER, event(n));
  expect([queue.news.length, queue.sent.length]).toEqual([1, 0]);
  clock.now += 300_000;
  for (let n = 21; n <= 30; n++) await writer().append(OWNER, event(n));
  expect(queue.news).toHaveLength(2);
  queue.holds = false;
  await writer().append(OWNER, event(31));
  expect(queue.sent).toHaveLength(3);
  expect(await got('sub1')).toEqual(ids(...Array.from({ length: 31 }, (_, index) => index + 1)));
  await writer().append(OWNER, event(32));
  expect(await got('sub1')).toHaveLength(32);
});

test('a message that has worked for ten seconds leaves the rest to another one', async () => {
  const { clock, context, items, writer, subscribe, queue, got } = eventsInMemory();
  await subscribe('sub');
  queue.holds = true;
  const numbers = Array.from({ length: 3 * limits.mcpEvents.together }, (_, index) => index + 1);
  await writer().append(OWNER, ...numbers.map((n) => event(n)));
  const slow = {
    ...items,
    async noteFannedOut(...given: Parameters<typeof items.noteFannedOut>) {
      await items.noteFannedOut(...given);
      clock.now += 11_000;
    },
  };
  queue.news.length = 0;
  await fanOut({ ...context, items: slow })({ ownerKey: OWNER });
  expect(await got('sub')).toEqual(ids(...numbers.slice(0, 2 * limits.mcpEvents.together)));
  expect(queue.news).toHaveLength(1);
  queue.holds = false;
  await queue.handleNews(fanOut(context));
  expect(await got('sub')).toEqual(ids(...numbers));
});

test('however many events come while messages work, one waits', async () => {
  const { items, context, writer, subscribe, queue, got } = eventsInMemory();
  await subscribe('sub');
  queue.holds = true;
  let n = 0;
  const comes = async () => {
    if (n < 200) await writer().append(OWNER, event(++n));
  };
  await comes();
  const { send, sendNews } = before(comes)(context);
  const busy = fanOut({ ...context, items: before(comes)(items), send, sendNews });
  let messages = 0;
  for (; queue.news.length > 0; messages++) {
    expect(queue.news).toHaveLength(1);
    queue.news.shift();
    await busy({ ownerKey: OWNER });
  }
  expect(await got('sub')).toHaveLength(200);
  expect(messages).toBeLessThan(20);
});

test('an event that comes while a message works on those before it is brought, too', async () => {
  // At any step of the message another event comes into the log: its writer may take the message for one that brings it.
  for (let at = 1; at < 14; at++) {
    const { context, items, writer, subscribe, queue, got } = eventsInMemory();
    await subscribe('sub');
    queue.holds = true;
    await writer().append(OWNER, event(1));
    let step = 0;
    const meets = before(async () => {
      if (++step === at) await writer().append(OWNER, event(2));
    });
    const { send, sendNews } = meets(context);
    queue.news.shift();
    await fanOut({ ...context, items: meets(items), send, sendNews })({ ownerKey: OWNER });
    queue.holds = false;
    await queue.handleNews(fanOut(context));
    if (step >= at) expect(await got('sub')).toEqual(ids(1, 2));
  }
});

test('one that dies is done again with the events since, and all come once, in order (H-21)', async () => {
  for (let dieAt = 1; dieAt < 18; dieAt++) {
    const { context, items, writer, subscribe, queue, got } = eventsInMemory();
    for (const id of ['a', 'b']) await subscribe(id, id === 'b' ? { arguments: { taskId: 't2' } } : {});
    queue.holds = true;
    await writer().append(OWNER, event(1));
    queue.holds = false;
    let step = 0;
    const dies = before(() => {
      if (++step >= dieAt) throw new Died();
    });
    const { send, sendNews } = dies(context);
    await queue.handleNews(fanOut({ ...context, items: dies(items), send, sendNews })).catch(() => {});
    if (dieAt % 2 === 0) await got('a');
    await writer().append(OWNER, event(2));
    await writer().append(OWNER, event(3));
    expect([await got('a'), await got('b')]).toEqual([ids(1, 2, 3), ids(2)]);
    const others = [...queue.sent.map(({ id }) => id)];
    expect(new Set(others).size).toBe(others.length);
  }
});

test('the events of a lost message come with an event five minutes later', async () => {
  const { writer, subscribe, queue, got, clock } = eventsInMemory();
  await subscribe('sub');
  queue.loses = 1;
  await writer().append(OWNER, event(1));
  clock.now += 299_999;
  await writer().append(OWNER, event(2));
  expect(await got('sub')).toEqual([]);
  clock.now += 1;
  await writer().append(OWNER, event(3));
  expect(await got('sub')).toEqual(ids(1, 2, 3));
});

test('more events than a page of the log come page by page', async () => {
  const { writer, subscribe, queue, got } = eventsInMemory();
  await subscribe('sub');
  const most = 520;
  queue.holds = true;
  for (let n = 1; n <= most; n += 20) {
    await writer().append(OWNER, ...Array.from({ length: 20 }, (_, index) => event(n + index)));
  }
  queue.holds = false;
  await writer().append(OWNER, event(most + 1));
  expect(await got('sub')).toEqual(ids(...Array.from({ length: most + 1 }, (_, index) => index + 1)));
});

test('if one batch of subscriptions fails, the message waits for the others before it does', async () => {
  const { context, writer, subscribe, queue } = eventsInMemory();
  for (let n = 0; n < 15; n++) await subscribe(`sub${n}`);
  queue.holds = true;
  await writer().append(OWNER, event(1));
  const { promise, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  const send = async (messages: readonly FifoMessage[]) => {
    if (sent++ === 0) throw new Error('slow down');
    await promise;
    return messages.map(queue.accept);
  };
  let ended = false;
  const handled = fanOut({ ...context, send })({ ownerKey: OWNER }).finally(() => {
    ended = true;
  });
  const failed = expect(handled).rejects.toThrow('slow down');
  await new Promise((next) => setImmediate(next));
  expect([sent, ended]).toEqual([2, false]);
  resolve();
  await failed;
  // The smaller batch came first, and failed.
  expect(queue.sent).toHaveLength(10);
});
