import { expect, test } from 'vitest';
import { storyText } from '../../../../bin/tasks/print-story.ts';
import { subscriptionsOf } from '../../../../functions/operator/events/deliveries.ts';
import { explain } from '../../../../functions/operator/explain/index.ts';
import { type Story, show } from '../../../../functions/operator/show.ts';
import type { DynamoDb } from '../../../../functions/tasks/aws/dynamodb.ts';
import { eventItems } from '../../../../functions/tasks/table/events/items.ts';
import { positionText } from '../../../../functions/tasks/table/events/log.ts';
import { operatorEvents } from '../../../../functions/tasks/table/operators/events.ts';
import { TABLE } from '../../../support/engine/memory.ts';
import { finished } from '../../events/support.ts';
import { KEY, MINUTE, operatorOn, T0, task } from '../operators.ts';

const NEWEST = 500;
const CUT = 'Only the newest 500 entries of the log of its owner were read';

const SUBSCRIPTION = {
  ...{ id: 'sub_1', name: 'task.finished', arguments: {}, scopes: [], url: 'u', secrets: [], truncated: false },
  ...{ createdAt: T0, endpoint: '', refreshBefore: T0 + 60 * MINUTE, expiresAt: 1, started: positionText(0) },
  ...{ deliveredTo: positionText(0), lastMatched: positionText(0) },
};

/** A server with MCP Events, and the queries of its table. */
function eventsOperator() {
  const operator = operatorOn([task({ status: 'completed' })]);
  const { dynamoDb } = operator;
  const asked: Parameters<DynamoDb['query']>[0][] = [];
  const query: DynamoDb['query'] = (input) => {
    asked.push(input);
    return dynamoDb.query(input);
  };
  const { server } = operator.context;
  const context = {
    ...operator.context,
    server: { ...server, logGroups: { deliveries: 'log' } },
    events: operatorEvents({ ...dynamoDb, query }, TABLE),
  };
  return { items: eventItems(dynamoDb, TABLE), context, asked };
}

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
  const { items, context, asked } = eventsOperator();
  for (const [id, minutes] of Object.entries({ sub_1: 60, sub_2: 1, sub_3: 60 })) {
    const url = `https://a.example/${id}?key=1`;
    await items.createSubscription(KEY.owner, { ...SUBSCRIPTION, id, url, refreshBefore: T0 + minutes * MINUTE }, T0);
  }
  const found = await subscriptionsOf(KEY.owner, true, context);
  expect(found.map(({ id, url }) => [id, url])).toEqual([
    ['sub_1', 'https://a.example/sub_1'],
    ['sub_3', 'https://a.example/sub_3'],
  ]);
  const prefixes = asked.map(({ ExpressionAttributeValues }) => ExpressionAttributeValues?.[':prefix']);
  expect(prefixes).toEqual(['#sub#', '#url#sub_1', '#url#sub_3']);
});
