import { expect, test } from 'vitest';
import { eventPublisher } from '../../../functions/events/publish.ts';
import { limits } from '../../../functions/tasks/limits.ts';
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
  const putNew: typeof context.items.putNew = async (owner, event, expiresAt) => {
    steps.push(`begins ${event.event?.eventId.at(-1)}`);
    await context.items.putNew(owner, event, expiresAt);
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
  const kept = await items.newEvents(OWNER, limits.mcpEvents.together);
  expect(kept).toEqual([news(1), news(2), news(3)]);
});
