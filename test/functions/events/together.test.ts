import { expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import { eventsInMemory, finished, OWNER, START } from './support.ts';

const event = (n: number, more = {}) => ({ at: START, event: finished(n, more) });
const ids = (...numbers: readonly number[]) => numbers.map((n) => finished(n).eventId);

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
  const { writer, subscribe, got } = eventsInMemory();
  await subscribe('sub');
  const last = await writer().append(OWNER, event(1), event(2));
  expect(await writer().append(OWNER, event(1), event(2))).toBe(last);
  expect(await writer().append(OWNER, event(2), event(3))).toBe((last ?? 0) + 1);
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
  // Head, entry, head, message, the entries; then they are read, and the subscriptions; a write for each, two batches of messages.
  expect(steps).toBe(4 + together + 2 + 15 + 2);
  expect(queue.sent).toHaveLength(15);
});
