import { expect, test, vi } from 'vitest';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { answer, refuseAnswer, withInputApart } from '../../../functions/tasks/transitions/answers.ts';
import { askFirst, createRefused } from '../../../functions/tasks/transitions/begin.ts';
import { after } from '../../../functions/tasks/transitions/change.ts';
import { cancel, failAsSeen, finish } from '../../../functions/tasks/transitions/end.ts';
import { confirmStart } from '../../../functions/tasks/transitions/run.ts';
import { receive, resume } from '../../../functions/tasks/transitions/waits.ts';
import { change, fresh, published, SECRET, T0 } from './published.ts';

// The function reads them as it loads.
vi.hoisted(() => Object.assign(process.env, { EVENT_BUS: 'bus', SERVER_NAME: 'server', METRICS_BY_TOOL: 'true' }));

const asked = JSON.stringify({ inputRequests: { a: { method: 'roots/list', params: { text: SECRET } } } });
const waiting = after(fresh, askFirst(fresh, asked, SECRET, T0 + 1_000));
const answered = after(waiting, answer(waiting, ['r1.a'], { 'r1.a': SECRET }, T0 + 5_000));
const returned = { text: JSON.stringify(SECRET), asks: false, isError: false };
const failed = (reason: string) => ({
  reason: 'ToolFailed' as const,
  error: { code: -32603, message: SECRET, data: { reason } },
});

test('a task that asks: its audit lines, metrics and events, with nothing that anyone wrote', async () => {
  const done = after(answered, finish(answered, returned, undefined, T0 + 9_000));
  const { audit, metrics, details, entries, text } = await published([
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
  const { audit, metrics, details, text } = await published([
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
  expect((await published([[working, ended]])).resumed).toEqual(expected);
});

const hook = { kind: 'webhook', until: T0 + 500_000 } as const;

test.each([
  ['right after its round has begun to wait', 'waiting', T0 + 30_000],
  ['while its round works, which ends a second later', 'working', T0 + 29_500],
] as const)('a signal begins the next round at once after any number of rounds: %s', async (_when, status, at) => {
  const waits = { waits: JSON.stringify({ hook }), asked: '{}' };
  const round = { ...fresh, round: 11, status, updatedAt: T0 + 29_000, ...(status === 'waiting' && waits) };
  const signalled = after(round, receive(round, 'hook', { round: 11, signal: { body: 1, at } }, at));
  const ended = after(signalled, finish(signalled, { ...returned, waits: { hook } }, SECRET, T0 + 30_000));
  const write = status === 'waiting' ? ([round, signalled] as const) : ([signalled, ended] as const);
  expect((await published([write])).resumed).toEqual(['t']);
});

test('a failed task, and one whose arguments were refused: their events, audit lines and metrics', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const [one, other] = [
    { ...fresh, traceparent },
    { ...fresh, taskId: 'u' },
  ];
  const { audit, metrics, details } = await published([
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
  const { audit, text } = await published([write]);
  expect(audit).toHaveLength(expected.length);
  expect(audit).toMatchObject(expected);
  for (const [i, line] of audit.entries())
    if (!Object.hasOwn(expected[i] ?? {}, 'answers')) expect(line).not.toHaveProperty('answers');
  expect(text).not.toContain(SECRET);
});

test('an answer that leaves a question open moves nothing, so it is no event', async () => {
  const { entries } = await published([change(waiting, answer(waiting, ['r1.a', 'r1.b'], { 'r1.a': '1' }, T0))]);
  expect(entries).toEqual([]);
});

test('who ended it is known from its events, and not guessed where they do not say it', async () => {
  const ended = after(fresh, cancel(T0 + 1));
  const by = { ...ended, events: [{ at: T0 + 1, what: 'cancelled', by: 'operator' } as const] };
  const { audit } = await published([
    [fresh, by],
    [fresh, { ...ended, events: [] }],
  ]);
  expect(audit[0].by).toBe('operator');
  expect(audit[1]).not.toHaveProperty('by');
});

test('an anonymous task is published without its owner, which is its id', async () => {
  const own = { ...fresh, owner: 'task#t' };
  const { audit, details } = await published([[undefined, own]]);
  expect(audit[0]).not.toHaveProperty('owner');
  expect(details[0]).not.toHaveProperty('owner');
});

test('other items, deleted ones and records of a later release are left alone', async () => {
  const other = { owner: 'o', taskId: '#slots#0', count: 1 } as unknown as TaskRecord;
  const { audit, entries, failures } = await published([
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
    const { audit, failures } = await published([[undefined, rest as TaskRecord]]);
    expect([audit, failures]).toEqual([[], []]);
  },
);

test('events of a record that cannot be read are left out, also all of them', async () => {
  const ended = after(fresh, cancel(T0 + 1));
  const events = [...ended.events, 7, { what: 'cancelled', by: 'operator' }] as never;
  expect((await published([[fresh, { ...ended, events }]])).audit).toMatchObject([
    { action: 'cancelled', by: 'workflow' },
  ]);
  const { events: _, ...without } = ended;
  const { audit } = await published([[fresh, without as TaskRecord]]);
  expect(audit).toMatchObject([{ action: 'cancelled' }]);
  expect(audit[0]).not.toHaveProperty('by');
});

test('a copy from a restored table is one audit line: its changes were published before', async () => {
  const done = after(fresh, finish(fresh, returned, undefined, T0 + 9_000));
  const { audit, metrics, entries } = await published([[undefined, done]]);
  expect(audit).toMatchObject([{ action: 'restored', status: 'completed' }]);
  expect([metrics, entries]).toEqual([[], []]);
});
