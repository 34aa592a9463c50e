import { expect, test } from 'vitest';
import { storyText } from '../../../../bin/tasks/print-story.ts';
import { subscriptionsOf } from '../../../../functions/operator/events/deliveries.ts';
import { explain } from '../../../../functions/operator/explain/index.ts';
import { type Story, show } from '../../../../functions/operator/show.ts';
import { positionText } from '../../../../functions/tasks/table/events/log.ts';
import type { NewSubscription } from '../../../../functions/tasks/table/events/subscription.ts';
import { finished } from '../../events/support.ts';
import { denied, KEY, MINUTE, T0, task } from '../operators.ts';
import { eventsOperator, SUBSCRIPTION } from './subscriptions.ts';

const NEWEST = 500;
const CUT = 'Only the newest 500 entries of the log of its owner were read';

/** A task whose event is the first of a log with so many entries, for a subscription that has got all up to a position. */
async function serverOf(entries: number, deliveredTo: number, failedSince?: number) {
  const { items, context, asked } = eventsOperator();
  for (let n = 1; n <= entries; n++) {
    const event = finished(n, { at: T0 + n, ...(n === 1 && { taskId: KEY.taskId }) });
    await items.putEntry(KEY.owner, n, { at: T0 + n, event }, 1);
  }
  const one = {
    ...{ ...SUBSCRIPTION, deliveredTo: positionText(deliveredTo), lastMatched: positionText(entries) },
    ...(failedSince !== undefined && { failedSince, lastError: 'timeout' }),
  };
  await items.createSubscription(KEY.owner, one, T0);
  const story = (await show(KEY, false, context)) as Story;
  const ofLog = asked.filter(({ ScanIndexForward }) => ScanIndexForward === false);
  return { story, context, ofLog };
}

test('show reads the newest 500 entries of a log, and says if there are others', async () => {
  const { story, ofLog, context } = await serverOf(NEWEST + 1, NEWEST + 1);
  expect(story).toMatchObject({ unreadEvents: true });
  expect(story).not.toHaveProperty('deliveries');
  expect(ofLog).toMatchObject([{ Limit: NEWEST + 1 }]);
  expect(storyText(story, T0)).toContain(CUT);
  expect((await explain(KEY, false, context)).also).toEqual([]);
});

test('of a log that was read as a whole it says only where the events of the task are', async () => {
  const { story } = await serverOf(NEWEST, 1);
  expect(story).not.toHaveProperty('unreadEvents');
  expect(story).toMatchObject({ deliveries: [{ event: 'task.finished', subscription: 'sub_1', state: 'done' }] });
  expect(storyText(story, T0)).not.toContain(CUT);
});

test.each([
  [0, [expect.stringMatching(/^sub_1 fails, maybe at an older/)]],
  [1, []],
])('an explanation names a subscription that fails, maybe at an unread entry: got %i', async (to, also) => {
  const { context } = await serverOf(NEWEST + 1, to, T0 + 1);
  expect((await explain(KEY, false, context)).also).toEqual(also);
});

test('of subscriptions that are over no URL is read', async () => {
  const { items, context, prefixes } = eventsOperator();
  for (const [id, minutes] of Object.entries({ sub_1: 60, sub_2: 1, sub_3: 60 })) {
    const url = `https://a.example/${id}?key=1`;
    await items.createSubscription(KEY.owner, { ...SUBSCRIPTION, id, url, refreshBefore: T0 + minutes * MINUTE }, T0);
  }
  const found = await subscriptionsOf(KEY.owner, true, context);
  expect(found.map(({ id, url }) => [id, url])).toEqual([
    ['sub_1', 'https://a.example/sub_1'],
    ['sub_3', 'https://a.example/sub_3'],
  ]);
  expect(prefixes()).toEqual(['#sub#', '#url#sub_1', '#url#sub_3']);
});

/** Subscriptions of the owner of a task whose only event came at T0. */
async function subscribed(...all: readonly Partial<NewSubscription>[]) {
  const operator = eventsOperator();
  const event = finished(1, { at: T0, taskId: KEY.taskId });
  await operator.items.putEntry(KEY.owner, 1, { at: T0, event }, 1);
  for (const one of all) await operator.items.createSubscription(KEY.owner, { ...SUBSCRIPTION, ...one }, T0 - 1);
  return operator;
}
const GOT = { deliveredTo: positionText(1) };
const FAILS = { failedSince: T0, lastError: 'timeout' };

test('each live subscription that wants an event has it, waits for it, or fails', async () => {
  const { context, prefixes } = await subscribed(
    { id: 'sub_1', ...GOT, ...FAILS },
    { id: 'sub_2' },
    { id: 'sub_3', ...FAILS },
    { id: 'sub_4', failedSince: T0 },
    { id: 'sub_5', createdAt: T0 + 1 },
    { id: 'sub_6', createdAt: T0 + 1, arguments: { taskId: KEY.taskId } },
    { id: 'sub_7', name: 'task.input_required' },
    { id: 'sub_8', refreshBefore: T0 + MINUTE },
  );
  const story = (await show(KEY, false, context)) as Story;
  const event = { event: 'task.finished', eventId: finished(1).eventId };
  expect(story.deliveries).toStrictEqual([
    { ...event, subscription: 'sub_1', state: 'done' },
    { ...event, subscription: 'sub_2', state: 'waits' },
    { ...event, subscription: 'sub_3', state: 'fails', ...FAILS },
    { ...event, subscription: 'sub_4', state: 'fails', failedSince: T0 },
    { ...event, subscription: 'sub_6', state: 'waits' },
  ]);
  expect(prefixes().filter((prefix) => String(prefix).startsWith('#url#'))).toEqual([]);
  const fails = (id: string, error: string) =>
    `Its event task.finished does not reach ${id}: since 2023-11-14 22:13:20Z each attempt fails (${error}). The next one comes within 15 minutes.`;
  expect((await explain(KEY, false, context)).also).toEqual([fails('sub_3', 'timeout'), fails('sub_4', '')]);
});

test('of a log that was not read as a whole only subscriptions that fail are named', async () => {
  const { items, context } = await subscribed({ id: 'sub_1' }, { id: 'sub_2', ...FAILS });
  for (let n = 2; n <= NEWEST + 1; n++) await items.putEntry(KEY.owner, n, { at: T0, event: finished(n) }, 1);
  expect((await explain(KEY, false, context)).also).toEqual([
    'sub_2 fails, maybe at an older event of this task: only the newest 500 entries of the log of its owner are read.',
  ]);
});

test('no log is read without a subscription, and nothing of callers without a name', async () => {
  const none = eventsOperator();
  await show(KEY, false, none.context);
  expect(none.prefixes()).toEqual(['#sub#']);
  const anonymous = { ...KEY, owner: 'anonymous' };
  const { context, asked } = eventsOperator(task({ owner: 'anonymous' }));
  expect(await show(anonymous, false, context)).not.toHaveProperty('deliveries');
  expect(asked).toEqual([]);
});

test('without MCP Events no subscriptions are read', async () => {
  const { context, asked } = await subscribed({});
  const server = { ...context.server, logGroups: {} };
  expect(await subscriptionsOf(KEY.owner, false, { ...context, server })).toEqual([]);
  expect(asked).toEqual([]);
});

test('a URL is shown only if it was asked for, and is still known', async () => {
  const { context } = await subscribed({ url: 'https://a.example' });
  const [plain] = await subscriptionsOf(KEY.owner, false, context);
  expect(plain).not.toHaveProperty('url');
  const events = { ...context.events, url: async () => undefined };
  const [lost] = await subscriptionsOf(KEY.owner, true, { ...context, events });
  expect(lost).toMatchObject({ id: 'sub_1' });
  expect(lost).not.toHaveProperty('url');
});

test.each([
  [false, 'read'],
  [true, 'payload'],
])('without the right to subscriptions the policy is named: with URLs %s', async (payload, policy) => {
  const { context } = eventsOperator();
  const reading = (error: Error) =>
    subscriptionsOf(KEY.owner, payload, {
      ...context,
      events: { ...context.events, subscriptions: () => Promise.reject(error) },
    });
  await expect(reading(denied())).rejects.toThrow(
    `The subscriptions of owner#o: your credentials may not read them. The ${policy} policy of the server allows it`,
  );
  await expect(reading(new TypeError('down'))).rejects.toThrow(new TypeError('down'));
});
