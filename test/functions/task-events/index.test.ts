import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { publish, type TaskEventsContext } from '../../../functions/task-events/index.ts';
import { auditLine } from '../../../functions/tasks/audit.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { answer, refuseAnswer, withInputApart } from '../../../functions/tasks/transitions/answers.ts';
import { askFirst, create, createRefused } from '../../../functions/tasks/transitions/begin.ts';
import { after, type Change } from '../../../functions/tasks/transitions/change.ts';
import { cancel, failAsSeen, finish } from '../../../functions/tasks/transitions/end.ts';
import { confirmStart } from '../../../functions/tasks/transitions/run.ts';
import { resume } from '../../../functions/tasks/transitions/waits.ts';
import { imageOf, streamRecord } from './images.ts';

// The function reads them as it loads.
vi.hoisted(() => Object.assign(process.env, { EVENT_BUS: 'bus', SERVER_NAME: 'server', METRICS_BY_TOOL: 'true' }));

const T0 = 1_700_000_000_000;
/** When the stream got the writes. */
const WRITTEN = T0 + 60_000;
const HOUR = 3_600_000;
const SECRET = 'planted-secret';
const asked = JSON.stringify({ inputRequests: { a: { method: 'roots/list', params: { text: SECRET } } } });
const fresh = create(
  { owner: 'owner#ann', taskId: 't' },
  { tool: 'echo', ttl: 1_000, timeout: 600_000, accepts: ['roots/list'], legacy: false },
  T0,
);
const waiting = after(fresh, askFirst(fresh, asked, SECRET, T0 + 1_000));
const answered = after(waiting, answer(waiting, ['r1.a'], { 'r1.a': SECRET }, T0 + 5_000));
const returned = { text: JSON.stringify(SECRET), asks: false, isError: false };
const failed = (reason: string) => ({
  reason: 'ToolFailed' as const,
  error: { code: -32603, message: SECRET, data: { reason } },
});

/** What the function tells of these writes, as the changes of a table are delivered. */
async function told(
  writes: readonly (readonly [TaskRecord | undefined, TaskRecord | undefined])[],
  putEvents?: TaskEventsContext['putEvents'],
  age = 0,
  byTool = true,
) {
  const [audit, metrics, resumed, entries]: [string[], string[], string[], object[]] = [[], [], [], []];
  const { batchItemFailures } = await publish(
    { Records: writes.map(([before, now], index) => streamRecord(before, now, index + 1, WRITTEN)) },
    {
      server: 'S',
      metricsByTool: byTool,
      resume: async ({ taskId }) => void resumed.push(taskId),
      now: () => WRITTEN + age,
      audit: (action, facts) => void audit.push(auditLine(action, facts)),
      print: (lines) => void metrics.push(...lines),
      putEvents: async (some) => {
        const accepted = (await putEvents?.(some)) ?? some.map(() => true);
        entries.push(...some.filter((_entry, index) => accepted[index]));
        return accepted;
      },
    },
  );
  return {
    audit: audit.map((line) => JSON.parse(line)),
    metrics: metrics.map((line) => JSON.parse(line)),
    details: entries.map((entry) => JSON.parse((entry as { Detail: string }).Detail)),
    entries,
    resumed,
    text: JSON.stringify([audit, metrics, entries]),
    failures: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier),
  };
}
const change = (record: TaskRecord, by: Change) => [record, after(record, by)] as const;

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
});
afterEach(() => vi.restoreAllMocks());
const logged = () => vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(String(line)));

test('a task that asks: its audit lines, metrics and events, with nothing that anyone wrote', async () => {
  const done = after(answered, finish(answered, returned, undefined, T0 + 9_000));
  const { audit, metrics, details, entries, text } = await told([
    ...[[undefined, fresh] as const, [fresh, waiting] as const, [waiting, answered] as const],
    [answered, done],
  ]);
  const ids = { event: 'audit', owner: 'owner#ann', taskId: 't', tool: 'echo' };
  expect(audit).toEqual([
    { ...ids, action: 'created' },
    { ...ids, action: 'input_asked', round: 1 },
    { ...ids, action: 'input_answered', answers: 1 },
    { ...ids, action: 'finished', status: 'completed', by: 'workflow' },
  ]);
  expect(details.map(({ status, previousStatus, round, id }) => [previousStatus, status, round, id])).toEqual([
    [undefined, 'working', 1, `t/${T0}/r1/working`],
    ['working', 'input_required', 1, `t/${T0}/r1/input_required`],
    ['input_required', 'working', 2, `t/${T0}/r2/working`],
    ['working', 'completed', 2, `t/${T0}/r2/completed`],
  ]);
  expect(entries[3]).toEqual({
    ...{ Source: 'mcp-task-server', DetailType: 'Task Status Change', Time: (T0 + 9_000) / 1_000 },
    Detail: expect.any(String),
  });
  expect(details[3]).toEqual({
    ...{ version: '1', id: `t/${T0}/r2/completed`, server: 'S', taskId: 't', owner: 'owner#ann', tool: 'echo' },
    ...{ status: 'completed', previousStatus: 'working', round: 2 },
    ...{ createdAt: '2023-11-14T22:13:20.000Z', changedAt: '2023-11-14T22:13:29.000Z' },
  });
  const counted = metrics.map(({ _aws, Server, Tool, Change, ...counts }) => {
    expect(_aws.CloudWatchMetrics[0].Dimensions).toEqual([['Server'], ['Server', 'Tool']]);
    expect(Change).toMatch(/^t\/1700000000000\/r\d\/\w+$/);
    expect({ Server, Tool }).toEqual({ Server: 'S', Tool: 'echo' });
    return counts;
  });
  expect(counted).toEqual([
    { Created: 1 },
    { Asked: 1 },
    { Completed: 1, TimeToEnd: 9_000, TimeWaitingForInput: 4_000 },
  ]);
  const units = { Completed: 'Count', TimeToEnd: 'Milliseconds', TimeWaitingForInput: 'Milliseconds' };
  expect(metrics[2]._aws.CloudWatchMetrics[0].Metrics).toEqual(
    Object.entries(units).map(([Name, Unit]) => ({ Name, Unit })),
  );
  expect(text).not.toContain(SECRET);
});

test('a task that waits and goes on: audit lines and events, and no metric of an end', async () => {
  const asleep = after(fresh, finish(fresh, { ...returned, waits: { a: { kind: 'more' } } }, SECRET, T0 + 1_000));
  const next = after(asleep, resume(asleep, 'standard', T0 + 2_000));
  const { audit, metrics, details, text } = await told([
    [fresh, asleep],
    [asleep, next],
  ]);
  expect(audit.map(({ action, round }) => [action, round])).toEqual([
    ['waits', 1],
    ['resumed', 2],
  ]);
  expect(details.map(({ status, previousStatus, round }) => [previousStatus, status, round])).toEqual([
    ['working', 'waiting', 1],
    ['waiting', 'working', 2],
  ]);
  expect(metrics).toEqual([]);
  expect(text).not.toContain(SECRET);
});

test.each([
  ['at once', 1, 10, ['t']],
  ['at once, in its tenth round, too', 10, 10, ['t']],
  ['at the sweep if it has done so little in ten rounds', 11, 1_999, []],
  ['at once after any number of rounds of work', 1_000, 2_000, ['t']],
])('a task that has more to do goes on %s', async (_when, round, took, expected) => {
  const working = { ...fresh, round, updatedAt: T0 + 1_000 };
  const more = { ...returned, waits: { more: { kind: 'more' } } } as const;
  const ended = after(working, finish(working, more, SECRET, T0 + 1_000 + took));
  expect((await told([[working, ended]])).resumed).toEqual(expected);
});

test('a failed task, and one whose arguments were refused: their events, audit lines and metrics', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const [one, other] = [
    { ...fresh, traceparent },
    { ...fresh, taskId: 'u' },
  ];
  const { audit, metrics, details } = await told([
    change(one, failAsSeen(one, failed('TypeError'), T0 + 1_000)),
    [undefined, createRefused(other, '{}')],
  ]);
  const at = { createdAt: new Date(T0).toISOString(), changedAt: expect.any(String) };
  const common = { version: '1', server: 'S', owner: 'owner#ann', tool: 'echo', round: 1, ...at };
  expect(details).toEqual([
    {
      ...common,
      id: `t/${T0}/r1/failed`,
      taskId: 't',
      previousStatus: 'working',
      status: 'failed',
      reason: 'TypeError',
      traceparent,
    },
    { ...common, id: `u/${T0}/r1/working`, taskId: 'u', status: 'working' },
    {
      ...common,
      id: `u/${T0}/r1/completed`,
      taskId: 'u',
      previousStatus: 'working',
      status: 'completed',
      isError: true,
    },
  ]);
  expect(audit).toMatchObject([
    { traceId, reason: 'TypeError' },
    { action: 'created' },
    { status: 'completed', isError: true },
  ]);
  expect(metrics).toMatchObject([{ Failed: 1 }, { Created: 1 }, { Completed: 1, ToolErrors: 1 }]);
});

test.each<[string, readonly [TaskRecord | undefined, TaskRecord], object[]]>([
  ['a cancel', change(fresh, cancel(T0 + 1)), [{ action: 'cancelled' }]],
  [
    'a failure with a name',
    change(fresh, failAsSeen(fresh, failed('TypeError'), T0)),
    [{ action: 'finished', status: 'failed', reason: 'TypeError' }],
  ],
  [
    'a failure with a text for a name',
    change(fresh, failAsSeen(fresh, failed(`No ${SECRET}`), T0)),
    [{ action: 'finished', status: 'failed' }],
  ],
  [
    'a deadline',
    change(fresh, failAsSeen(fresh, failed('DeadlineExceeded'), T0)),
    [{ action: 'finished', by: 'deadline', reason: 'DeadlineExceeded' }],
  ],
  ['refused arguments', [undefined, createRefused(fresh, '{}')], [{ action: 'created' }, { isError: true }]],
  ['a confirmed start', change(fresh, confirmStart(fresh, T0)), []],
  ['a refused answer', change(waiting, refuseAnswer(waiting, 'r1.a', T0)), []],
  [
    'an answer that is moved to S3 with the others',
    change(
      waiting,
      withInputApart(answer(waiting, ['r1.a', 'r1.b'], { 'r1.a': '1' }, T0), { ...waiting, inputRef: 'ref' }),
    ),
    [{ action: 'input_answered' }],
  ],
  [
    'one answer of two',
    change(waiting, answer(waiting, ['r1.a', 'r1.b'], { 'r1.a': '1' }, T0)),
    [{ action: 'input_answered', answers: 1 }],
  ],
  [
    'the second of two answers, with no room for one more event',
    [
      { ...waiting, inputResponses: { 'r1.a': '1' } },
      { ...waiting, inputResponses: { 'r1.a': '1', 'r1.b': '1' } },
    ],
    [{ action: 'input_answered', answers: 1 }],
  ],
  [
    'a round that begins, with its answers in S3 and no room for one more event',
    [waiting, { ...waiting, status: 'working', round: 2 }],
    [{ action: 'input_answered' }],
  ],
])('%s: its audit lines', async (_title, write, expected) => {
  const { audit, text } = await told([write]);
  expect(audit).toHaveLength(expected.length);
  expect(audit).toMatchObject(expected);
  for (const [i, line] of audit.entries())
    if (!Object.hasOwn(expected[i] ?? {}, 'answers')) expect(line).not.toHaveProperty('answers');
  expect(text).not.toContain(SECRET);
});

test('an answer that leaves a question open moves nothing, so it is no event', async () => {
  const { entries } = await told([change(waiting, answer(waiting, ['r1.a', 'r1.b'], { 'r1.a': '1' }, T0))]);
  expect(entries).toEqual([]);
});

/** A task that has ended at 20 s, with these events. */
const measured = async (...events: TaskRecord['events']) =>
  (await told([[fresh, { ...fresh, status: 'completed', updatedAt: T0 + 20_000, events }]])).metrics[0];

test('the waits for answers add up, each from a question to the last answer to it, or to the end', async () => {
  const what = (name: 'asked' | 'answered', seconds: number) => ({ at: T0 + seconds * 1_000, what: name }) as const;
  const once = [what('asked', 1), what('answered', 3), what('answered', 5)];
  expect(await measured(...once, what('asked', 6), what('answered', 8))).toMatchObject({ TimeWaitingForInput: 6_000 });
  expect(await measured(...once, what('asked', 17))).toMatchObject({ TimeWaitingForInput: 7_000 });
  expect(await measured(what('answered', 5))).not.toHaveProperty('TimeWaitingForInput');
});

test('the time to the start is not known from a later round', async () => {
  const started = { at: T0 + 9_000, what: 'asked', startedAt: T0 + 8_000 } as const;
  expect(await measured({ ...started, round: 2 })).not.toHaveProperty('TimeToStart');
  expect(await measured({ ...started, round: 1 })).toMatchObject({ TimeToStart: 8_000 });
});

test('who ended it is known from its events, and not guessed where they do not say it', async () => {
  const ended = after(fresh, cancel(T0 + 1));
  const by = { ...ended, events: [{ at: T0 + 1, what: 'cancelled', by: 'operator' } as const] };
  const { audit } = await told([
    [fresh, by],
    [fresh, { ...ended, events: [] }],
  ]);
  expect(audit[0].by).toBe('operator');
  expect(audit[1]).not.toHaveProperty('by');
});

test('the time to the start is measured at the first workflow', async () => {
  const events = [
    { at: T0, what: 'created' },
    { at: T0 + 1_000, what: 'completed', startedAt: T0 + 40 },
  ] as const;
  const { metrics } = await told([[fresh, { ...fresh, status: 'completed', updatedAt: T0 + 1_000, events }]]);
  expect(metrics[0]).toMatchObject({ TimeToStart: 40, TimeToEnd: 1_000, Completed: 1 });
});

test('an anonymous task is published without its owner, which is its id', async () => {
  const own = { ...fresh, owner: 'task#t' };
  const { audit, details } = await told([[undefined, own]]);
  expect(audit[0]).not.toHaveProperty('owner');
  expect(details[0]).not.toHaveProperty('owner');
});

test('other items, deleted ones and records of a later release are left alone', async () => {
  const other = { owner: 'o', taskId: '#slots#0', count: 1 } as unknown as TaskRecord;
  const { audit, entries, failures } = await told([
    [fresh, undefined],
    [undefined, other],
    [undefined, { ...fresh, status: 'paused' as never }],
  ]);
  expect([audit, entries, failures]).toEqual([[], [], []]);
});

test.each(['owner', 'taskId', 'tool', 'status', 'round', 'createdAt', 'updatedAt'] as const)(
  'an item without %s is no record of a task',
  async (name) => {
    const { [name]: _, ...rest } = fresh;
    const { audit, failures } = await told([[undefined, rest as TaskRecord]]);
    expect([audit, failures]).toEqual([[], []]);
  },
);

test('events of a record that cannot be read are left out, also all of them', async () => {
  const ended = after(fresh, cancel(T0 + 1));
  const events = [...ended.events, 7, { what: 'cancelled', by: 'operator' }] as never;
  expect((await told([[fresh, { ...ended, events }]])).audit).toMatchObject([{ action: 'cancelled', by: 'workflow' }]);
  const { events: _, ...without } = ended;
  const { audit } = await told([[fresh, without as TaskRecord]]);
  expect(audit).toMatchObject([{ action: 'cancelled' }]);
  expect(audit[0]).not.toHaveProperty('by');
});

test('from the first change that is not accepted on, all are delivered again, and none before it', async () => {
  const tasks = Array.from({ length: 12 }, (_, index) => ({ ...fresh, taskId: `t${index}` }));
  const calls: number[] = [];
  const { audit, failures } = await told(
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

test('without metrics of each tool, its name is a property of a line and no dimension', async () => {
  const { metrics } = await told([[undefined, fresh]], undefined, 0, false);
  expect(metrics).toHaveLength(1);
  expect(metrics[0]).toMatchObject({ Server: 'S', Tool: 'echo', Created: 1 });
  expect(metrics[0]._aws.CloudWatchMetrics[0].Dimensions).toEqual([['Server']]);
});

test('events of different tasks go at the same time, events of one task one after the other', async () => {
  const tasks = Array.from({ length: 25 }, (_, index) => ({ ...fresh, taskId: `t${index}` }));
  const writes = tasks.flatMap((task) => [[undefined, task] as const, change(task, cancel(T0 + 1))]);
  const open: (() => void)[] = [];
  const requests: number[] = [];
  const telling = told(writes, async (some) => {
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
  const { audit, entries, failures } = await told(writes, async (some) => some.map((_entry, index) => index === 0));
  expect(entries).toHaveLength(1);
  expect(failures).toEqual(['2']);
  expect(audit).toMatchObject([{ action: 'created' }]);
});

test('with EventBridge out of reach nothing is published, and all of it is delivered again', async () => {
  const { audit, metrics, failures } = await told([[undefined, fresh]], () => Promise.reject(new Error(SECRET)));
  expect([audit, metrics, failures]).toEqual([[], [], ['1']]);
  expect(logged()).toMatchObject([{ event: 'events_failed', error: 'Error' }]);
});

test('a write that changes nothing that is published goes on its own', async () => {
  const { failures, entries } = await told([change(fresh, confirmStart(fresh, T0 + 60_000))], () =>
    expect.unreachable(),
  );
  expect([failures, entries, logged()]).toEqual([[], [], []]);
  expect(imageOf(fresh).status).toEqual({ S: 'working' });
});

test('after 23 hours a change is published without its event: the stream is about to drop it', async () => {
  const refuse = () => Promise.reject(new Error('no'));
  const late = await told([[undefined, fresh]], refuse, 23 * HOUR);
  expect(late.failures).toEqual([]);
  expect(late.audit).toMatchObject([{ action: 'created' }]);
  expect(late.metrics).toMatchObject([{ Created: 1 }]);
  expect(logged().at(-1)).toEqual({ event: 'events_given_up', records: 1 });
  vi.mocked(console.error).mockClear();
  expect((await told([[undefined, fresh]], refuse, 23 * HOUR - 1)).failures).toEqual(['1']);
  expect(logged()).toMatchObject([{ event: 'events_failed' }]);
});

test('a copy from a restored table is one audit line: its changes were published before', async () => {
  const done = after(fresh, finish(fresh, returned, undefined, T0 + 9_000));
  const { audit, metrics, entries } = await told([[undefined, done]]);
  expect(audit).toMatchObject([{ action: 'restored', status: 'completed' }]);
  expect([metrics, entries]).toEqual([[], []]);
});

test('a record that cannot be read holds up none behind it, and makes no task new', async () => {
  const strange = { ...fresh, createdAt: 1e300 };
  const { audit, failures } = await told([
    [undefined, strange],
    [{ ...fresh, status: 'paused' as never }, waiting],
    [undefined, { ...fresh, taskId: 'u' }],
  ]);
  expect(audit.map(({ taskId, action }) => [taskId, action])).toEqual([['u', 'created']]);
  expect(failures).toEqual([]);
  expect(vi.mocked(console.warn).mock.calls).toEqual([['{"event":"change_unreadable","sequenceNumber":"2"}']]);
});
