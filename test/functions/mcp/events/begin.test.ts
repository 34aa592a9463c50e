import { expect, test } from 'vitest';
import { positionText } from '../../../../functions/tasks/table/event-items.ts';
import { DAY, OWNER, START } from '../../events/support.ts';
import { eventsServer, SECRET, URL_ } from './support.ts';

test('a subscription whose first message SQS refuses gets it by the next request (H-12, H-14)', async () => {
  const { call, subscription, task, got, queue } = eventsServer();
  const { taskId } = task('t', { status: 'completed' });
  const wanted = subscription({ arguments: { taskId } });
  queue.refuses = 1;
  const { error } = await call('events/subscribe', wanted);
  expect(error).toMatchObject({ code: -32603, data: { reason: 'Unavailable' } });
  const { result } = await call('events/subscribe', wanted);
  expect(await got(result.id)).toHaveLength(1);
});

test.each([false, true])(
  'a start that a dead request left out comes by the next; truncated: %s (H-10, H-12, H-14)',
  async (truncated) => {
    const { call, subscription, task, got, items, writer, caller } = eventsServer();
    const { taskId } = task('t', { status: 'completed' });
    const wanted = subscription({ arguments: { taskId } });
    const { id } = (await call('events/subscribe', wanted)).result;
    expect(await got(id)).toHaveLength(1);
    await call('events/unsubscribe', wanted);
    const { last } = await writer().begin(OWNER);
    await items.createSubscription(
      OWNER,
      {
        ...{ id, name: 'task.finished', arguments: { taskId }, scopes: caller.scopes, url: URL_, secrets: [SECRET] },
        ...{ createdAt: START + 1, refreshBefore: START + DAY, expiresAt: 1 },
        ...{ deliveredTo: positionText(last), lastMatched: positionText(last), truncated },
      },
      START,
    );
    expect((await call('events/subscribe', wanted)).result).toMatchObject({ id, truncated });
    expect(await got(id)).toHaveLength(2);
  },
);
