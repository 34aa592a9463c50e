import { expect, test, vi } from 'vitest';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { fresh, published, T0 } from './published.ts';

// The function reads them as it loads.
vi.hoisted(() => Object.assign(process.env, { EVENT_BUS: 'bus', SERVER_NAME: 'server', METRICS_BY_TOOL: 'true' }));

/** A task that has ended at 20 s, with these events. */
const measured = async (...events: TaskRecord['events']) =>
  (await published([[fresh, { ...fresh, status: 'completed', updatedAt: T0 + 20_000, events }]])).metrics[0];

test('the waits for answers add up, each from a question to the last answer to it, or to the end', async () => {
  const what = (name: 'asked' | 'answered', seconds: number) => ({ at: T0 + seconds * 1_000, what: name }) as const;
  const once = [what('asked', 1), what('answered', 3), what('answered', 5)];
  expect(await measured(...once, what('asked', 6), what('answered', 8))).toMatchObject({ TimeWaitingForInput: 6_000 });
  expect(await measured(...once, what('asked', 17))).toMatchObject({ TimeWaitingForInput: 7_000 });
  expect(await measured(what('answered', 5))).not.toHaveProperty('TimeWaitingForInput');
});

test('work after a question whose answer left no event is no wait', async () => {
  const asked = { at: T0 + 1_000, what: 'asked', round: 10 } as const;
  const ended = (round: number) =>
    ({ ...fresh, status: 'completed', round, updatedAt: T0 + 20_000, events: [asked] }) as const;
  const lines = async (round: number) => (await published([[{ ...fresh, round }, ended(round)]])).metrics[0];
  expect(await lines(11)).not.toHaveProperty('TimeWaitingForInput');
  expect(await lines(10)).toMatchObject({ TimeWaitingForInput: 19_000 });
});

test('a question or an answer that left no event makes no work a wait', async () => {
  const what = (name: 'asked' | 'answered', seconds: number, round: number) =>
    ({ at: T0 + seconds * 1_000, what: name, round }) as const;
  const once = [what('asked', 1, 2), what('answered', 3, 2)];
  expect(await measured(...once, what('answered', 19, 3))).toMatchObject({ TimeWaitingForInput: 2_000 });
  const lost = [what('asked', 5, 3), what('asked', 15, 4), what('answered', 16, 4)];
  expect(await measured(...once, ...lost)).toMatchObject({ TimeWaitingForInput: 3_000 });
});

test('the time to the start is not known from a later round', async () => {
  const started = { at: T0 + 9_000, what: 'asked', startedAt: T0 + 8_000 } as const;
  expect(await measured({ ...started, round: 2 })).not.toHaveProperty('TimeToStart');
  expect(await measured({ ...started, round: 1 })).toMatchObject({ TimeToStart: 8_000 });
});

test('the time to the start is measured at the first workflow', async () => {
  const events = [
    { at: T0, what: 'created' },
    { at: T0 + 1_000, what: 'completed', startedAt: T0 + 40 },
  ] as const;
  const { metrics } = await published([[fresh, { ...fresh, status: 'completed', updatedAt: T0 + 1_000, events }]]);
  expect(metrics[0]).toMatchObject({ TimeToStart: 40, TimeToEnd: 1_000, Completed: 1 });
});

test('without metrics of each tool, its name is a property of a line and no dimension', async () => {
  const { metrics } = await published([[undefined, fresh]], undefined, 0, false);
  expect(metrics).toHaveLength(1);
  expect(metrics[0]).toMatchObject({ Server: 'S', Tool: 'echo', Created: 1 });
  expect(metrics[0]._aws.CloudWatchMetrics[0].Dimensions).toEqual([['Server']]);
});
