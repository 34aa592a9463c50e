import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import { confirmStart } from '../../../functions/tasks/transitions/run.ts';
import { imageOf } from './images.ts';
import { change, fresh, published, SECRET, T0 } from './published.ts';

// The function reads them as it loads.
vi.hoisted(() => Object.assign(process.env, { EVENT_BUS: 'bus', SERVER_NAME: 'server', METRICS_BY_TOOL: 'true' }));

const HOUR = 3_600_000;

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
});
afterEach(() => vi.restoreAllMocks());
const logged = () => vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(String(line)));

test('from the first change that is not accepted on, all are delivered again, and none before it', async () => {
  const tasks = Array.from({ length: 12 }, (_, index) => ({ ...fresh, taskId: `t${index}` }));
  const calls: number[] = [];
  const { audit, failures } = await published(
    tasks.map((task) => [undefined, task] as const),
    async (some) => {
      calls.push(some.length);
      return some.map((_entry, index) => calls.length === 1 || index > 0);
    },
  );
  expect(calls).toEqual([10, 2]);
  expect(failures).toEqual(['11']);
  expect(audit.map(({ taskId }) => taskId)).toEqual(tasks.slice(0, 10).map(({ taskId }) => taskId));
});

test('events of different tasks go at the same time, events of one task one after the other', async () => {
  const tasks = Array.from({ length: 25 }, (_, index) => ({ ...fresh, taskId: `t${index}` }));
  const writes = tasks.flatMap((task) => [[undefined, task] as const, change(task, cancel(T0 + 1))]);
  const open: (() => void)[] = [];
  const requests: number[] = [];
  const telling = published(writes, async (some) => {
    requests.push(some.length);
    await new Promise<void>((answer) => open.push(answer));
    return some.map(() => true);
  });
  const answerAll = async () => {
    await vi.waitFor(() => expect(open).toHaveLength(3));
    for (const answer of open.splice(0)) answer();
  };
  await answerAll();
  await answerAll();
  const { details, failures } = await telling;
  expect(requests).toEqual([10, 10, 5, 10, 10, 5]);
  expect(failures).toEqual([]);
  const seen = Map.groupBy(details, ({ taskId }) => taskId);
  expect([...seen.values()].map((all) => all.map(({ status }) => status))).toEqual(
    Array(25).fill(['working', 'cancelled']),
  );
});

test('a change whose event waits for another one of its task is delivered again with it', async () => {
  const [one, other] = [fresh, { ...fresh, taskId: 'u' }];
  // The end of the first task would go after the beginning of the second one, which is refused.
  const writes = [[undefined, one] as const, change(one, cancel(T0 + 1)), [undefined, other] as const];
  const { audit, entries, failures } = await published(writes, async (some) =>
    some.map((_entry, index) => index === 0),
  );
  expect(entries).toHaveLength(1);
  expect(failures).toEqual(['2']);
  expect(audit).toMatchObject([{ action: 'created' }]);
});

test('with EventBridge out of reach nothing is published, and all of it is delivered again', async () => {
  const { audit, metrics, failures } = await published([[undefined, fresh]], () => Promise.reject(new Error(SECRET)));
  expect([audit, metrics, failures]).toEqual([[], [], ['1']]);
  expect(logged()).toMatchObject([{ event: 'events_failed', error: 'Error' }]);
});

test('a write that changes nothing that is published goes on its own', async () => {
  const { failures, entries } = await published([change(fresh, confirmStart(fresh, T0 + 60_000))], () =>
    expect.unreachable(),
  );
  expect([failures, entries, logged()]).toEqual([[], [], []]);
  expect(imageOf(fresh).status).toEqual({ S: 'working' });
});

test('after 23 hours a change is published without its event: the stream is about to drop it', async () => {
  const refuse = () => Promise.reject(new Error('no'));
  const late = await published([[undefined, fresh]], refuse, 23 * HOUR);
  expect(late.failures).toEqual([]);
  expect(late.audit).toMatchObject([{ action: 'created' }]);
  expect(late.metrics).toMatchObject([{ Created: 1 }]);
  expect(logged().at(-1)).toEqual({ event: 'events_given_up', records: 1 });
  vi.mocked(console.error).mockClear();
  expect((await published([[undefined, fresh]], refuse, 23 * HOUR - 1)).failures).toEqual(['1']);
  expect(logged()).toMatchObject([{ event: 'events_failed' }]);
});

test('a record that cannot be read holds up none behind it, and makes no task new', async () => {
  const strange = { ...fresh, createdAt: 1e300 };
  const { audit, failures } = await published([
    [undefined, strange],
    [
      { ...fresh, status: 'paused' as never },
      { ...fresh, status: 'input_required' },
    ],
    [undefined, { ...fresh, taskId: 'u' }],
  ]);
  expect(audit.map(({ taskId, action }) => [taskId, action])).toEqual([['u', 'created']]);
  expect(failures).toEqual([]);
  expect(vi.mocked(console.warn).mock.calls).toEqual([['{"event":"change_unreadable","sequenceNumber":"2"}']]);
});
