import { describe, expect, test } from 'vitest';
import { pollLimit } from '../../../../functions/mcp/read/poll-limit.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskKey } from '../../../../functions/tasks/record.ts';
import { modernMessage } from '../../../support/clients.ts';
import { fakeServer } from '../support/fake-server.ts';
import { exchanged } from '../support/posted.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;
const SECOND = 1_000;
const { burst } = limits.polls;

/** A task that works for ever, and its client; time passes by `clock`. */
async function setup(era: (typeof ERAS)[number]) {
  const clock = { now: 1_700_000_000_000 };
  const fake = fakeServer({ now: () => clock.now });

  async function send(method: string, params: Record<string, unknown>) {
    const { body, headers } = modernMessage(method, params);
    const sent = era === '2026-07-28' ? body : { ...body, params };
    const by = era === '2026-07-28' ? headers : { 'mcp-protocol-version': era };
    const { answer: message, ...reply } = await exchanged(fake.server, sent, by);
    return { ...reply, message, sent: body };
  }

  const task = (await send('tools/call', { name: 'optional', task: { ttl: 86_400_000 } })).message.result;
  const taskId: string = task.taskId ?? task.task.taskId;
  const record = fake.records.get(taskId);
  if (record !== undefined) fake.records.set({ ...record, deadlineAt: clock.now + 86_400_000 });
  const poll = () => send('tasks/get', { taskId });
  const interval = async () => {
    const { message } = await poll();
    return (message.result?.pollIntervalMs ?? message.result?.pollInterval) as number;
  };
  return { ...fake, clock, poll, interval, send };
}

describe.each(ERAS)('polling a task, %s', (era) => {
  test('four clients that keep to the poll interval are served for an hour (E-29)', async () => {
    const { clock, interval } = await setup(era);
    const started = clock.now;
    while (clock.now < started + 3_600 * SECOND) {
      const told = [await interval(), await interval(), await interval(), await interval()];
      expect(told.every(Number.isInteger)).toBe(true);
      clock.now += told[0] ?? 0;
    }
  });

  test.each([50, 100, 200])(
    'the pace of the conformance suite, every %i ms, is served for 15 s (E-29)',
    async (pace) => {
      const { clock, poll } = await setup(era);
      for (let at = 0; at < 15 * SECOND; at += pace) {
        expect((await poll()).status).toBe(200);
        clock.now += pace;
      }
    },
  );

  test('a client that asks in a loop gets 429 at no cost, and is served again later (E-29)', async () => {
    const { clock, poll, did } = await setup(era);
    for (let i = 0; i < burst; i++) expect((await poll()).status).toBe(200);
    const before = did.length;
    for (let i = 0; i < 50; i++) {
      const { status, headers, message, sent } = await poll();
      expect([status, headers['retry-after'], message.id]).toEqual([429, '1', sent.id]);
      expect(message.error.code).toBe(-32600);
      expect(message.error.message).toContain('wait 1 s');
    }
    expect(did.length).toBe(before);
    clock.now += SECOND;
    for (let i = 0; i < limits.polls.perInterval; i++) expect((await poll()).status).toBe(200);
    expect((await poll()).status).toBe(429);
  });

  test('how long to wait follows the poll interval: of a task as old as this, 30 s (E-29)', async () => {
    const { clock, poll } = await setup(era);
    clock.now += 1_000 * SECOND;
    for (let i = 0; i < burst; i++) await poll();
    expect((await poll()).headers['retry-after']).toBe('30');
    clock.now += 30 * SECOND;
    expect((await poll()).status).toBe(200);
  });

  test('one task counts for itself: other tasks and other requests are served (E-29)', async () => {
    const { poll, send, records } = await setup(era);
    for (let i = 0; i <= burst; i++) await poll();
    const [taskId = ''] = records.ids();
    await send('tools/call', { name: 'optional', task: {} });
    const other = records.ids().find((id) => id !== taskId);
    expect((await send('tasks/get', { taskId: other })).status).toBe(200);
    expect((await send('tasks/cancel', { taskId })).status).toBe(200);
  });
});

/** A limit on polls, and polls of tasks that exist. */
function pollsAt(now: () => number) {
  const polls = pollLimit(now);
  const poll = (key: TaskKey) => {
    polls.count(key);
    polls.setInterval(key, SECOND);
  };
  return { polls, poll };
}

test('of very many tasks only the last ones asked for are remembered', () => {
  const { poll } = pollsAt(() => 0);
  const key = (n: number) => ({ owner: 'o', taskId: String(n) });
  for (let i = 0; i < burst; i++) poll(key(0));
  expect(() => poll(key(0))).toThrow('too often');
  for (let n = 1; n < limits.polls.tasks; n++) poll(key(n));
  expect(() => poll(key(0))).toThrow('too often');
  for (let n = 1; n <= limits.polls.tasks; n++) poll(key(n));
  expect(() => poll(key(0))).not.toThrow();
});

test('ids that do not exist make no other task forgotten (E-29)', async () => {
  const { poll, send } = await setup('2026-07-28');
  for (let i = 0; i < burst; i++) await poll();
  expect((await poll()).status).toBe(429);
  for (let n = 0; n <= limits.polls.tasks; n++) await send('tasks/get', { taskId: String(n).padStart(36, '0') });
  expect((await poll()).status).toBe(429);
});

test('a clock that is set back takes no polls from a client', () => {
  const clock = { now: 3_600 * SECOND };
  const { poll } = pollsAt(() => clock.now);
  const key = { owner: 'o', taskId: 'a' };
  poll(key);
  clock.now = 0;
  for (let i = 2; i < burst; i++) poll(key);
  poll(key);
  expect(() => poll(key)).toThrow('too often');
});

test('a poll of one owner does not count for another', () => {
  const { poll } = pollsAt(() => 0);
  for (let i = 0; i < burst; i++) poll({ owner: 'a', taskId: 't' });
  expect(() => poll({ owner: 'a', taskId: 't' })).toThrow();
  expect(() => poll({ owner: 'b', taskId: 't' })).not.toThrow();
});

test('what may show a result counts as polls at the least interval, one count for each task', () => {
  let now = 0;
  const limit = pollLimit(() => now);
  const [one, other] = [
    { owner: 'o', taskId: '1' },
    { owner: 'o', taskId: '2' },
  ];
  for (let i = 0; i < burst; i++) limit.countShown(one);
  expect(() => limit.countShown(one)).toThrow('asked for too often');
  limit.countShown(other);
  now += limits.pollInterval.min;
  for (let i = 0; i < limits.polls.perInterval; i++) limit.countShown(one);
  expect(() => limit.countShown(one)).toThrow('asked for too often');
});
