import { expect, test } from 'vitest';
import { auditLine } from '../../../../functions/tasks/audit.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { audited } from '../../../../functions/tasks/table/audited-store.ts';
import type { TaskStore } from '../../../../functions/tasks/table/store.ts';
import {
  answer,
  askFirst,
  type Change,
  cancel,
  confirmStart,
  create,
  createRefused,
  fail,
  refuseAnswer,
} from '../../../../functions/tasks/transitions.ts';
import { applied } from '../applied.ts';

const T0 = 1_700_000_000_000;
const SECRET = 'planted-secret';
const task = (over: Partial<TaskRecord> = {}): TaskRecord => ({
  ...create(
    { owner: 'owner#ann', taskId: 't' },
    { tool: 'echo', ttl: 1_000, timeout: 1_000, accepts: [], legacy: false },
    T0,
  ),
  ...over,
});
const asked = JSON.stringify({ inputRequests: { a: { method: 'roots/list', params: {} } } });

/** A table of one record, or none, and the audit lines of its writes. */
function auditedTable(stored: TaskRecord | undefined, by: 'endpoint' | 'reconciler' = 'endpoint') {
  const lines: string[] = [];
  const base = {
    create: async () => stored === undefined,
    apply: async (_key: unknown, change: Change) => stored && applied(stored, change),
    applyBlind: async (_key: unknown, change: Change) => stored !== undefined && applied(stored, change) !== undefined,
  } as unknown as TaskStore;
  const { store, seen } = audited(base, (action, facts) => void lines.push(auditLine(action, facts)), by);
  return { store, seen, lines, told: () => lines.map((line) => JSON.parse(line)) };
}
const ANN = { event: 'audit', owner: 'owner#ann', taskId: 't', tool: 'echo' };
const waiting = task({ status: 'input_required', asked });
const failure = (reason?: string) => ({ code: -32603, message: SECRET, ...(reason && { data: { reason } }) });

test.each<[string, Change, object[], TaskRecord?]>([
  ['cancelled', cancel(T0), [{ ...ANN, action: 'cancelled' }]],
  ['failed', fail(failure(), T0), [{ ...ANN, action: 'finished', status: 'failed', by: 'endpoint' }]],
  [
    'failed with a name',
    fail(failure('TypeError'), T0),
    [{ ...ANN, action: 'finished', status: 'failed', by: 'endpoint', reason: 'TypeError' }],
  ],
  [
    'failed with a text for a name',
    fail(failure(`No such ${SECRET}`), T0),
    [{ ...ANN, action: 'finished', status: 'failed', by: 'endpoint' }],
  ],
  [
    'failed by its deadline',
    fail(failure('DeadlineExceeded'), T0),
    [{ ...ANN, action: 'finished', status: 'failed', by: 'deadline', reason: 'DeadlineExceeded' }],
  ],
  ['asks first', askFirst(task(), asked, SECRET, T0), [{ ...ANN, action: 'input_asked', round: 1 }]],
  [
    'answered',
    answer(waiting, ['r1.a'], { 'r1.a': SECRET }, T0),
    [{ ...ANN, action: 'input_answered', answers: 1 }],
    waiting,
  ],
  ['a confirmed start', confirmStart(task(), T0), []],
  ['a refused answer', refuseAnswer(waiting, 'r1.a', T0), [], waiting],
])('%s: one event, with nothing that a caller or a tool wrote', async (_title, change, expected, record = task()) => {
  const { store, lines, told } = auditedTable(record);
  expect(await store.apply(record, change)).toBeDefined();
  expect(told()).toEqual(expected);
  expect(lines.join()).not.toContain(SECRET);
});

test('a write that lost its condition is not logged', async () => {
  const { store, told } = auditedTable(task({ status: 'completed' }));
  await store.apply(task(), cancel(T0));
  await store.applyBlind(task(), cancel(T0));
  expect(told()).toEqual([]);
});

test('the reconciler says that it was it', async () => {
  const { store, told } = auditedTable(task(), 'reconciler');
  await store.applyBlind(task(), fail(failure('States.Timeout'), T0));
  expect(told()).toMatchObject([{ action: 'finished', by: 'reconciler', reason: 'States.Timeout' }]);
});

test('a task is created once, or was; one with bad arguments has ended with it', async () => {
  const fresh = auditedTable(undefined);
  await fresh.store.create(task());
  await fresh.store.create(createRefused(task({ taskId: 'u' }), SECRET));
  expect(fresh.told()).toEqual([
    { ...ANN, action: 'created' },
    { ...ANN, taskId: 'u', action: 'created' },
    { ...ANN, taskId: 'u', action: 'finished', status: 'completed', isError: true, by: 'endpoint' },
  ]);
  const twin = auditedTable(task());
  await twin.store.create(task());
  expect(twin.told()).toEqual([{ ...ANN, action: 'created', repeated: true }]);
});

test('what a workflow wrote is logged when first seen, each round of questions again', () => {
  const { seen, told } = auditedTable(undefined);
  const look = (over: Partial<TaskRecord>) => {
    for (const _ of [1, 2]) seen(task(over));
  };
  look({});
  look({ status: 'input_required' });
  look({ status: 'working', round: 2 });
  look({ status: 'input_required', round: 2 });
  look({ status: 'completed', isError: false, result: SECRET });
  look({ taskId: 'u', status: 'completed', isError: true });
  look({ taskId: 'v', status: 'failed', error: JSON.stringify(failure('TypeError')) });
  look({ taskId: 'w', status: 'failed', error: JSON.stringify(failure('DeadlineExceeded')) });
  look({ taskId: 'x', status: 'cancelled' });
  expect(told()).toEqual([
    { ...ANN, action: 'input_asked', round: 1 },
    { ...ANN, action: 'input_asked', round: 2 },
    { ...ANN, action: 'finished', status: 'completed', by: 'workflow' },
    { ...ANN, taskId: 'u', action: 'finished', status: 'completed', isError: true, by: 'workflow' },
    { ...ANN, taskId: 'v', action: 'finished', status: 'failed', reason: 'TypeError' },
    { ...ANN, taskId: 'w', action: 'finished', status: 'failed', by: 'deadline', reason: 'DeadlineExceeded' },
  ]);
});

test('what this container has stored as ended, or asked in a later round, is not logged again', async () => {
  const fresh = auditedTable(undefined);
  const refused = createRefused(task(), '{}');
  await fresh.store.create(refused);
  fresh.seen(refused);
  expect(fresh.told().map(({ action }) => action)).toEqual(['created', 'finished']);
  const second = task({ round: 2 });
  const { store, seen, told } = auditedTable(second);
  seen((await store.apply(second, askFirst(second, asked, '{}', T0))) ?? task());
  expect(told()).toEqual([{ ...ANN, action: 'input_asked', round: 2 }]);
});

test('of answers only those of this write are counted', async () => {
  const before = { ...waiting, inputResponses: { 'r1.a': '{}', 'r1.b': '{}' } };
  const { store, told } = auditedTable(before);
  await store.apply(before, answer(before, ['r1.c', 'r1.d'], { 'r1.c': '{}' }, T0));
  expect(told()).toEqual([{ ...ANN, action: 'input_answered', answers: 1 }]);
});

test('ten thousand tasks are remembered, and then the oldest is not', () => {
  const { seen, lines } = auditedTable(undefined);
  const see = (n: number) => seen(task({ taskId: String(n), status: 'completed' }));
  for (let n = 0; n < 10_000; n++) see(n);
  see(0);
  expect(lines).toHaveLength(10_000);
  see(10_000);
  see(1);
  expect(lines).toHaveLength(10_001);
  see(0);
  expect(lines).toHaveLength(10_002);
});

test('what this container wrote itself is not logged again when seen', async () => {
  const { store, seen, told } = auditedTable(task());
  const failed = await store.apply(task(), fail(failure(), T0));
  seen(failed ?? task());
  expect(told()).toHaveLength(1);
});

test('a task that is its own owner has no owner in the log', () => {
  expect(JSON.parse(auditLine('created', { owner: 'task#t', taskId: 't', tool: 'echo' }))).toEqual({
    ...{ event: 'audit', action: 'created', taskId: 't', tool: 'echo' },
  });
});
