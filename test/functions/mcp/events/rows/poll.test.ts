import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { limits } from '../../../../../functions/tasks/limits.ts';
import { finished } from '../../../events/support.ts';
import { postingServer, tasksOf } from './posting-server.ts';

/** A poll from before these events. */
async function pollOf(count: number, more: object = {}) {
  const { cursor, ends, polled } = postingServer();
  const from = await cursor();
  for (let n = 1; n <= count; n++) await ends(n);
  return (await polled({ cursor: from, ...more })).result;
}
const one = async (): Promise<Record<string, unknown>> => (await pollOf(1)).events[0];
const isDateTime = (value: unknown) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value));

test('poll-implemented', async () => {
  const result = await pollOf(1);
  expect(result).toMatchObject({ events: [{}], cursor: expect.any(String), nextPollMs: expect.any(Number) });
});

test('poll-one-subscription-per-request', async () => {
  const { error } = await postingServer().polled({ name: ['task.finished', 'task.asks'] });
  expect(error).toMatchObject({ code: -32011 });
});

test('poll-bootstraps-subscription', async () => {
  const { polled, ends } = postingServer();
  const { cursor } = (await polled({ cursor: null })).result;
  await ends(1);
  expect((await polled({ cursor })).result.events).toHaveLength(1);
});

test('poll-events-array', async () => expect(await pollOf(0)).toMatchObject({ events: [] }));

test('poll-response-cursor', async () => {
  const { cursor, ends, polled } = postingServer();
  const from = await cursor();
  await ends(1);
  const { cursor: next } = (await polled({ cursor: from })).result;
  expect((await polled({ cursor: next })).result.events).toEqual([]);
});

test('poll-next-poll-ms', async () => expect((await pollOf(0)).nextPollMs).toBe(limits.mcpEvents.nextPoll));

test('poll-next-poll-ms-ignored-when-has-more', async () => {
  const { cursor, ends, polled } = postingServer();
  let from = await cursor();
  for (let n = 1; n <= 3; n++) await ends(n);
  // Each at once: the server takes it.
  for (const hasMore of [true, true, true, false]) {
    const { result } = await polled({ cursor: from, maxEvents: 1 });
    expect(result.hasMore).toBe(hasMore);
    from = result.cursor;
  }
});

test('poll-has-more', async () => {
  expect(await pollOf(2, { maxEvents: 1 })).toMatchObject({ hasMore: true });
  expect(await pollOf(2)).toMatchObject({ hasMore: false });
});

test('poll-max-events-cap', async () => {
  expect((await pollOf(5, { maxEvents: 3 })).events).toHaveLength(3);
  const most = limits.mcpEvents.poll;
  expect((await pollOf(most + 1)).events).toHaveLength(most);
});

test('poll-stateless-request', async () => {
  const { cursor, ends, polled } = postingServer();
  const from = await cursor();
  await ends(1);
  const first = (await polled({ cursor: from })).result;
  await polled({ cursor: first.cursor });
  expect((await polled({ cursor: from })).result).toEqual(first);
});

test('poll-errors-are-jsonrpc', async () => {
  for (const wrong of [{ name: 'no' }, { arguments: { tool: 'no' } }, { maxEvents: 0 }, { cursor: 7 }]) {
    const { error, result, status } = await postingServer().polled(wrong);
    expect([status, typeof error.code, result]).toEqual([200, 'number', undefined]);
  }
});

test('poll-invalid-arguments', async () => {
  for (const wrong of [{ tool: 'no' }, { status: 'working' }, { taskId: 7 }, { other: 1 }]) {
    expect((await postingServer().polled({ arguments: wrong })).error.code).toBe(-32602);
  }
});

test('occurrence-event-id', async () => expect((await one()).eventId).toMatch(/^evt_[0-9a-z]{26}$/));

test('occurrence-name', async () => expect((await one()).name).toBe('task.finished'));

test('occurrence-timestamp', async () => expect((await one()).timestamp).toSatisfy(isDateTime));

test('occurrence-data', async () => {
  const { call, cursor, ends, polled } = postingServer();
  const from = await cursor();
  const { events: types } = (await call('events/list')).result;
  await ends(1, { isError: true, reason: 'States.Timeout' });
  await ends(2, { name: 'task.asks', status: undefined, answerBy: 1_700_000_000_000 });
  for (const { name, payloadSchema } of types) {
    const [event] = (await polled({ name, cursor: from })).result.events;
    const ajv = new Ajv2020({ validateFormats: false });
    const closed = { ...payloadSchema, additionalProperties: false };
    expect([ajv.validate(closed, event.data), ajv.errors]).toEqual([true, null]);
  }
});

test('occurrence-cursor-optional', async () => {
  expect(await one()).not.toHaveProperty('cursor');
  const { subscribed, ends, deliverAll } = postingServer();
  await subscribed();
  await ends(1);
  const [post] = await deliverAll();
  expect(JSON.parse(post?.body ?? '').cursor).toMatch(/^\d{16}$/);
});

test('occurrence-meta-ungoverned', async () => expect(await one()).not.toHaveProperty('_meta'));

test('occurrence-event-id-from-upstream', async () => {
  const { subscribed, cursor, ends, polled, deliverAll } = postingServer();
  await subscribed();
  await subscribed({}, { url: 'https://other.example/' });
  const from = await cursor();
  await ends(1);
  // The stream delivers the change again.
  await ends(1);
  const [event, ...others] = (await polled({ cursor: from })).result.events;
  expect(others).toEqual([]);
  const posts = await deliverAll();
  expect(posts.map(({ webhookId, body }) => [webhookId, JSON.parse(body).eventId])).toEqual([
    [event.eventId, event.eventId],
    [event.eventId, event.eventId],
  ]);
});

test('cursor-opaque', async () => expect(await postingServer().cursor()).toEqual(expect.any(String)));

test('cursor-null-starts-from-now', async () => {
  const { cursor, ends, polled, subscribed, deliverAll } = postingServer();
  await cursor();
  await ends(1);
  expect((await polled({ cursor: null })).result).toMatchObject({ events: [], truncated: false });
  await subscribed({ cursor: null });
  expect(await deliverAll()).toEqual([]);
});

test('cursor-absent-equals-null', async () => {
  const { subscribed, ends, polled, deliverAll } = postingServer();
  await polled();
  await ends(1);
  for (const [index, absent] of [{}, { cursor: null }].entries()) {
    const { result } = await subscribed(absent, { url: `https://receiver.example/${index}` });
    expect(result.truncated).toBe(false);
  }
  expect(await deliverAll()).toEqual([]);
  expect((await polled()).result).toEqual((await polled({ cursor: null })).result);
});

test('cursor-consistency', async () => {
  const { subscribed, polled, ends, deliverAll } = postingServer();
  const { cursor } = (await subscribed()).result;
  await ends(1);
  const [post] = await deliverAll();
  const seen = [cursor, JSON.parse(post?.body ?? '').cursor, (await polled({ cursor })).result.cursor];
  for (const one of seen) expect(one).toMatch(/^\d{16}$/);
});

test('cursor-advances-when-quiet', async () => {
  const { cursor, ends, polled } = postingServer();
  const from = await cursor();
  await ends(1, { name: 'task.asks' });
  const { events, cursor: next } = (await polled({ cursor: from })).result;
  expect([events, next > from]).toEqual([[], true]);
});

/** A poll and a subscription that want the newer of two events only. */
async function young(from?: null) {
  const { cursor, ends, polled, subscribed, deliverAll, clock } = postingServer();
  const before = from === null ? null : await cursor();
  await ends(1);
  clock.now += 60_000;
  await ends(2, { at: clock.now });
  const wanted = { cursor: before, maxAgeMs: 30_000 };
  const [poll, granted] = [(await polled(wanted)).result, (await subscribed(wanted)).result];
  const tasks = poll.events.map((event: { data: { taskId: string } }) => event.data.taskId);
  return { tasks, posted: tasksOf(await deliverAll()), truncated: [poll.truncated, granted.truncated] };
}

test('max-age-ms-floor', async () => expect(await young()).toMatchObject({ tasks: ['t2'], posted: ['t2'] }));

test('max-age-ms-sets-truncated', async () => expect((await young()).truncated).toEqual([true, true]));

test('max-age-ms-ignored-when-cursor-null', async () =>
  expect(await young(null)).toEqual({ tasks: [], posted: [], truncated: [false, false] }));

test('replay-ceiling-sets-truncated', async () => {
  const { cursor, ends, subscribed, deliverAll } = postingServer();
  const from = await cursor();
  const most = limits.mcpEvents.replay;
  for (let n = 0; n <= most; n++) await ends(n);
  expect((await subscribed({ cursor: from })).result.truncated).toBe(true);
  const tasks = tasksOf(await deliverAll());
  expect([tasks.length, tasks[0], tasks.at(-1)]).toEqual([most, finished(1).taskId, finished(most).taskId]);
});

test('truncated-returns-fresh-cursor', async () => {
  const { ends, polled } = postingServer();
  const { cursor, truncated } = (await polled({ cursor: 'of another server' })).result;
  await ends(1);
  const next = (await polled({ cursor })).result;
  expect([truncated, next.truncated, next.events.length]).toEqual([true, false, 1]);
});

test('truncated-poll-never-an-error', async () => {
  const { error, result } = await postingServer().polled({ cursor: 'of another server' });
  expect([error, result.truncated, result.events]).toEqual([undefined, true, []]);
});
