import { afterEach, expect, test, vi } from 'vitest';
import type { PublishEvents } from '../../../functions/task-events/mcp-events.ts';
import type { EventFacts } from '../../../functions/tasks/table/events/log.ts';
import { askFirst } from '../../../functions/tasks/transitions/begin.ts';
import { cancel, finish, keyExpired, withdraw } from '../../../functions/tasks/transitions/end.ts';
import { change, fresh, published, SECRET, T0 } from './published.ts';

// The function reads them as it loads.
vi.hoisted(() => Object.assign(process.env, { EVENT_BUS: 'bus', SERVER_NAME: 'server', METRICS_BY_TOOL: 'true' }));
afterEach(() => vi.restoreAllMocks());

const question = { inputRequests: { ok: { method: 'elicitation/create', params: { message: SECRET } } } };
const asking = askFirst(fresh, JSON.stringify(question), JSON.stringify({ secret: SECRET }), T0 + 5);

async function eventsOf(
  writes: Parameters<typeof published>[0],
  fails: (facts: EventFacts) => boolean = () => false,
  putEvents?: Parameters<typeof published>[1],
  summarized?: readonly string[],
) {
  const all: (EventFacts & { owner: string; summary: string | undefined })[] = [];
  const publishEvents: PublishEvents = async (owner, events) => {
    if (events.some(({ event }) => event && fails(event))) throw new Error('no');
    all.push(...events.flatMap(({ event, summary }) => (event ? [{ ...event, owner, summary }] : [])));
  };
  return { ...(await published(writes, putEvents, 0, true, publishEvents, summarized)), all };
}

test('an end and a question become events, without what a client or a tool wrote', async () => {
  const { all } = await eventsOf([
    [undefined, { ...fresh, scopes: ['ops'] }],
    change({ ...fresh, scopes: ['ops'] }, asking),
    change(fresh, cancel(T0 + 9)),
  ]);
  const same = { owner: 'owner#ann', taskId: 't', tool: 'echo', createdAt: T0 };
  expect(all).toMatchObject([
    { ...same, name: 'task.asks', at: T0 + 5, scopes: ['ops'], answerBy: fresh.deadlineAt },
    { ...same, name: 'task.finished', at: T0 + 9, status: 'cancelled' },
  ]);
  expect(JSON.stringify(all)).not.toContain(SECRET);
  expect(all.map(({ eventId }) => /^evt_[0-9a-z]{26}$/.test(eventId))).toEqual([true, true]);
});

test('a call that was refused with HTTP 429 has no event: its client calls again', async () => {
  const { all } = await eventsOf([change(fresh, withdraw(fresh, T0 + 9)), change(fresh, keyExpired(fresh, T0 + 9))]);
  expect(all).toMatchObject([{ name: 'task.finished', status: 'failed' }]);
});

test('events of a tool with eventSummary have one, and nothing else that is published has (H-20)', async () => {
  const done = finish(fresh, { text: JSON.stringify(SECRET), asks: false, isError: false }, undefined, T0 + 9);
  const writes = [change(fresh, asking), change({ ...fresh, tool: 'quiet' }, asking), change(fresh, done)];
  const { all, text } = await eventsOf(writes, undefined, undefined, ['other', 'echo']);
  expect(all.map(({ tool, summary }) => [tool, summary])).toEqual([
    ['echo', SECRET],
    ['quiet', undefined],
    ['echo', SECRET],
  ]);
  expect(text).not.toContain(SECRET);
});

test('the same change has the same event id each time, and another change another one', async () => {
  const writes = [change(fresh, cancel(T0 + 9)), change({ ...fresh, taskId: 'u' }, cancel(T0 + 9))];
  const ids = async () => (await eventsOf(writes)).all.map(({ eventId }) => eventId);
  const first = await ids();
  expect(await ids()).toEqual(first);
  expect(new Set(first).size).toBe(2);
});

test('the tasks of an anonymous caller have no events: no client can have subscribed', async () => {
  const anonymous = ['task#t', 'session#s'].map((owner) => change({ ...fresh, owner }, cancel(T0 + 9)));
  expect((await eventsOf(anonymous)).all).toEqual([]);
});

test('what could not be published comes again, with all after it; other owners do not wait', async () => {
  const line = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const task = (taskId: string, owner = 'owner#ann') => change({ ...fresh, taskId, owner }, cancel(T0 + 9));
  const { all, failures, audit } = await eventsOf(
    [task('c', 'owner#bob'), task('a1'), task('a2'), task('b', 'owner#bob')],
    ({ taskId }) => taskId === 'a2',
  );
  expect(all.map(({ taskId }) => taskId)).toEqual(['c', 'b']);
  expect(failures).toEqual(['2']);
  expect(audit.map(({ taskId }) => taskId)).toEqual(['c']);
  expect(line.mock.calls.map(([text]) => JSON.parse(String(text)).event)).toEqual(['mcp_event_failed']);
});

test('a change whose Task Status Change was refused has its event when it comes again', async () => {
  const writes = [change(fresh, cancel(T0 + 9)), change({ ...fresh, taskId: 'u' }, cancel(T0 + 9))];
  const { all, failures } = await eventsOf(writes, undefined, async (some) => some.map((_one, index) => index === 0));
  expect(all.map(({ taskId }) => taskId)).toEqual(['t']);
  expect(failures).toEqual(['2']);
});
