import { expect, test } from 'vitest';
import { fanOut } from '../../../functions/events/fan-out.ts';
import { eventPublisher } from '../../../functions/events/publish.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { EventItems } from '../../../functions/tasks/table/events/items.ts';
import { eventsInMemory, finished, OWNER, START } from './support.ts';

const news = (n: number, task = n) => ({
  place: String(n).padStart(40, '0'),
  at: START,
  event: finished(n, { taskId: `t${task}` }),
});

test('an owner for whom nothing listens costs one read, and nothing is kept', async () => {
  const { context, table, queue } = eventsInMemory();
  let reads = 0;
  const items = {
    ...context.items,
    fannedOut: (owner: string) => {
      reads++;
      return context.items.fannedOut(owner);
    },
  };
  await eventPublisher({ ...context, items })(OWNER, [news(1), news(2)]);
  expect([reads, [...table.items()], queue.news]).toEqual([1, [], []]);
});

test('events of one task are kept one after the other, events of other tasks meanwhile', async () => {
  const { context, writer } = eventsInMemory();
  await writer().begin(OWNER);
  const steps: string[] = [];
  const putNew: typeof context.items.putNew = async (owner, event, expiresAt, into) => {
    steps.push(`begins ${event.event?.eventId.at(-1)}`);
    await context.items.putNew(owner, event, expiresAt, into);
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(`ends ${event.event?.eventId.at(-1)}`);
  };
  await eventPublisher({ ...context, items: { ...context.items, putNew } })(OWNER, [news(1), news(2), news(3, 1)]);
  expect(steps.slice(0, 2)).toEqual(['begins 1', 'begins 2']);
  expect(steps.indexOf('begins 3')).toBeGreaterThan(steps.indexOf('ends 1'));
});

test('what comes again before it is in the log is kept once, in the order of the stream', async () => {
  const { context, items, writer } = eventsInMemory();
  await writer().begin(OWNER);
  const publish = eventPublisher(context);
  for (const some of [[3], [1, 2], [2, 3]])
    await publish(
      OWNER,
      some.map((n) => news(n)),
    );
  const kept = await items.newEvents(OWNER, limits.mcpEvents.together, 'first');
  expect(kept).toEqual([news(1), news(2), news(3)]);
});

/** Items of which some calls are refused, and the calls. */
function refusing(items: EventItems, isRefused: (name: string, into?: unknown) => boolean) {
  const calls: string[] = [];
  const watched = (name: 'putNew' | 'fannedOut') => {
    return async (...given: readonly unknown[]) => {
      const into = given.at(3);
      calls.push([name, into].flatMap((one) => one ?? []).join(' '));
      if (isRefused(name, into)) throw Object.assign(new Error('throttled'), { name: 'ThrottlingException' });
      return (items[name] as (...all: readonly unknown[]) => unknown)(...given);
    };
  };
  const watching = { ...items, putNew: watched('putNew'), fannedOut: watched('fannedOut') } as EventItems;
  return { calls, items: watching };
}

test('an event that the first partition refuses comes into the log by the second one', async () => {
  const { context, items, writer, queue } = eventsInMemory();
  await writer().begin(OWNER);
  const { calls, items: busy } = refusing(items, (_name, into) => into === 'first');
  await eventPublisher({ ...context, items: busy })(OWNER, [news(1), news(2, 1)]);
  expect(calls).toEqual([
    ...['fannedOut', 'putNew first', 'putNew second', 'putNew first', 'putNew second'],
    'fannedOut',
  ]);
  expect(await items.newEvents(OWNER, 9, 'second')).toEqual([news(1), news(2, 1)]);
  await queue.handleNews(fanOut(context));
  const logged = (await items.entries(OWNER, 0, 9)).flatMap(({ event }) => event?.eventId ?? []);
  expect(logged).toEqual([finished(1).eventId, finished(2).eventId]);
  expect(await items.newEvents(OWNER, 9, 'second')).toEqual([]);
});

test('an event that both partitions refuse comes again: no message is sent', async () => {
  const { context, items, writer, queue } = eventsInMemory();
  await writer().begin(OWNER);
  const { calls, items: busy } = refusing(items, (name) => name === 'putNew');
  await expect(eventPublisher({ ...context, items: busy })(OWNER, [news(1), news(2, 1)])).rejects.toThrow('throttled');
  expect(calls).toEqual(['fannedOut', 'putNew first', 'putNew second']);
  expect(queue.news).toEqual([]);
});

test('if its turn cannot be read, each message has one of its own', async () => {
  const { context, items, writer, queue } = eventsInMemory();
  await writer().begin(OWNER);
  const { items: busy } = refusing(items, (name) => name === 'fannedOut');
  for (const n of [1, 2]) await eventPublisher({ ...context, items: busy })(OWNER, [news(n)]);
  expect(new Set(queue.news.map(({ id }) => id)).size).toBe(2);
  await queue.handleNews(fanOut(context));
  expect(await items.entries(OWNER, 0, 9)).toHaveLength(2);
});

test.each(['all reads are', 'the first read is'])(
  'for an owner without a log nothing stays, if %s refused',
  async (which) => {
    const { context, items, table, queue } = eventsInMemory();
    let reads = 0;
    const { items: busy } = refusing(
      items,
      (name) => name === 'fannedOut' && (which === 'all reads are' || reads++ === 0),
    );
    await eventPublisher({ ...context, items: busy })(OWNER, [news(1)]);
    expect(queue.news).toHaveLength(1);
    await queue.handleNews(fanOut(context));
    expect([...table.items()]).toEqual([]);
    // A log that begins within five minutes gets the first message of its own.
    await context.items.keepFannedOut(OWNER, START);
    await eventPublisher(context)(OWNER, [news(2)]);
    expect(queue.news).toHaveLength(1);
  },
);
