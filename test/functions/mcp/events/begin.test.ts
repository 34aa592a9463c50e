import { expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { positionText } from '../../../../functions/tasks/table/events/log.ts';
import type { NewSubscription } from '../../../../functions/tasks/table/events/subscription.ts';
import { DAY, finished, OWNER, START } from '../../events/support.ts';
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

/** A subscription of the caller, which `items` holds, whose request died before its start. */
const unstarted = (last: number, more: Pick<NewSubscription, 'id'> & Partial<NewSubscription>): NewSubscription => ({
  ...{ name: 'task.finished', arguments: {}, scopes: ['tasks', 'ops'], url: URL_, secrets: [SECRET] },
  ...{ createdAt: START + 1, endpoint: '', refreshBefore: START + DAY, expiresAt: 1, truncated: false },
  ...{ deliveredTo: positionText(last), lastMatched: positionText(last) },
  ...more,
});

test.each([false, true])(
  'a start that a dead request left out comes by the next; truncated: %s (H-10, H-12, H-14)',
  async (truncated) => {
    const { call, subscription, task, got, items, writer } = eventsServer();
    const { taskId } = task('t', { status: 'completed' });
    const wanted = subscription({ arguments: { taskId } });
    const { id } = (await call('events/subscribe', wanted)).result;
    expect(await got(id)).toHaveLength(1);
    await call('events/unsubscribe', wanted);
    const { last } = await writer().begin(OWNER);
    const one = { id, arguments: { taskId }, truncated };
    await items.createSubscription(OWNER, unstarted(last, one), START);
    expect((await call('events/subscribe', wanted)).result).toMatchObject({ id, truncated });
    expect(await got(id)).toHaveLength(2);
  },
);

test('a start repeated long after its request died reads the last 300 entries only (H-10)', async () => {
  const { call, subscription, got, items, writer } = eventsServer();
  const wanted = subscription({ arguments: { status: 'failed' } });
  const { id, cursor } = (await call('events/subscribe', wanted)).result;
  await call('events/unsubscribe', wanted);
  const began = Number(cursor) + 1;
  await items.createSubscription(OWNER, unstarted(began, { id, arguments: { status: 'failed' } }), START);
  const most = limits.mcpEvents.replay;
  for (let n = 1; n <= most + 1; n++) {
    const status = n <= 2 ? 'failed' : 'completed';
    await writer().append(OWNER, { at: START, event: finished(n, { status }) });
  }
  const again = await call('events/subscribe', { ...wanted, cursor: positionText(began) });
  expect(again.result).toMatchObject({ id, truncated: true, cursor: positionText(began + 1) });
  expect(await got(id)).toEqual([finished(2).eventId]);
});
