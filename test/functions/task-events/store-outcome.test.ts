import { describe, expect, test } from 'vitest';
import { storeOutcome } from '../../../functions/task-events/store-outcome.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { storedResult } from '../../../functions/tasks/results/result-ref.ts';
import { inputStore } from '../../../functions/tasks/s3/input-store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { after } from '../../../functions/tasks/transitions/change.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import { applied } from '../tasks/applied.ts';
import { fakeObjects } from '../tasks/s3/fake-inputs.ts';

const T0 = 1_700_000_000_000;
const task = { tool: 'x', ttl: 600_000, timeout: 60_000, accepts: [], legacy: false };
const working = create({ owner: 'o', taskId: 't' }, task, T0);
const text = JSON.stringify('x'.repeat(limits.result.inline));
const outcome = { owner: 'o', taskId: 't', round: 1, text, isError: false, asks: false };

/** One record. `before` runs between the read and the write. */
function world(record: TaskRecord | undefined, before: () => void = () => {}) {
  const objects = fakeObjects();
  const state = { record, now: T0 + 1_000 };
  const context = {
    store: {
      get: async () => state.record,
      applyBlind: async (_key: unknown, change: Parameters<typeof applied>[1]) => {
        before();
        const written = state.record && applied(state.record, change);
        state.record = written ?? state.record;
        return written !== undefined;
      },
    },
    results: objects,
    inputs: inputStore(objects),
    now: () => state.now,
  };
  return { state, objects, context };
}

test('the object is stored, then the task ends with a reference, as the workflow writes it', async () => {
  const { state, objects, context } = world(working);
  await storeOutcome({ ...outcome, startedAt: T0 + 5, retries: 2 }, context);
  expect(state.record).toMatchObject({ status: 'completed', isError: false, updatedAt: T0 + 1_000 });
  expect(storedResult(state.record?.result ?? '')).toMatchObject({ bytes: text.length, in: 'outcomes' });
  expect(state.record?.events?.at(-1)).toEqual({ at: T0 + 1_000, what: 'completed', startedAt: T0 + 5, retries: 2 });
  expect([...objects.objects.values()]).toEqual([text]);
});

test('a repeat changes nothing, and stores nothing', async () => {
  const { state, objects, context } = world(working);
  await storeOutcome(outcome, context);
  const first = state.record;
  state.now += 1_000;
  await storeOutcome(outcome, context);
  expect([state.record, objects.did]).toEqual([first, ['PUT']]);
});

test.each<[string, TaskRecord | undefined, number]>([
  ['has ended', after(working, cancel(T0)), 0],
  ['is in a later round', { ...working, round: 2 }, 0],
  ['is gone', undefined, 0],
  ['is over', working, 60_000 + limits.lateWrite],
])('a task that %s stays as it is', async (_what, record, later) => {
  const { state, objects, context } = world(record);
  state.now += later;
  await storeOutcome(outcome, context);
  expect([state.record, objects.did]).toEqual([record, []]);
});

test('a cancel that comes first wins, and no end is written too late for readers (F-09)', async () => {
  const raced = world(working, () => {
    raced.state.record = after(working, cancel(T0));
  });
  await storeOutcome(outcome, raced.context);
  expect(raced.state.record?.status).toBe('cancelled');
  const slow = world(working);
  const { put } = slow.objects;
  slow.context.results = {
    ...slow.objects,
    put: async (...given) => {
      await put(...given);
      slow.state.now += 80_000;
    },
  };
  await storeOutcome(outcome, slow.context);
  expect(slow.state.record?.status).toBe('working');
});

test('an error of S3 reaches the workflow, which tries again: the task works on', async () => {
  const { state, objects, context } = world(working);
  objects.state.down = 'SlowDown';
  await expect(storeOutcome(outcome, context)).rejects.toThrow('SlowDown');
  expect(state.record).toBe(working);
  delete objects.state.down;
  await storeOutcome(outcome, context);
  expect(state.record?.status).toBe('completed');
});

describe('a run that asks', () => {
  const form = {
    method: 'elicitation/create',
    params: { message: 'x'.repeat(2_000), requestedSchema: { type: 'object', properties: {} } },
  };
  const asking = create({ owner: 'o', taskId: 't' }, { ...task, accepts: ['elicitation/create'] }, T0);
  const questions = {
    ...outcome,
    text: JSON.stringify({ inputRequests: { a: form } }),
    asks: true,
    arguments: '{"n":1}',
  };

  test('waits with its questions and arguments in S3, from the first moment', async () => {
    const { state, objects, context } = world(asking);
    await storeOutcome({ ...questions, startedAt: T0 + 5 }, context);
    const { record } = state;
    expect(record).toMatchObject({ status: 'input_required', inputRef: expect.any(String) });
    expect([record?.asked, record?.arguments]).toEqual([undefined, undefined]);
    expect(record?.events?.at(-1)).toEqual({ at: T0 + 1_000, what: 'asked', startedAt: T0 + 5 });
    expect(await inputStore(objects).whole(record as TaskRecord)).toMatchObject({
      asked: questions.text,
      arguments: '{"n":1}',
    });
  });

  test('of which its client cannot be asked fails', async () => {
    const { state, objects, context } = world(working);
    await storeOutcome({ ...questions, startedAt: T0 + 5 }, context);
    expect(state.record).toMatchObject({ status: 'failed', failure: 'InputNotSupported' });
    expect(state.record?.events?.at(-1)).toEqual({ at: T0 + 1_000, what: 'failed', startedAt: T0 + 5 });
    expect(objects.did).toEqual([]);
  });

  test('in S3 goes on with what an earlier round has put there', async () => {
    const first = world(asking);
    await storeOutcome(questions, first.context);
    const again = { ...(first.state.record as TaskRecord), status: 'working', round: 2 } as const;
    const { state, context } = world(again);
    const inputs = inputStore(first.objects);
    const { arguments: _, ...later } = questions;
    await storeOutcome({ ...later, round: 2 }, { ...context, inputs });
    expect(await inputs.whole(state.record as TaskRecord)).toMatchObject({
      asked: questions.text,
      arguments: '{"n":1}',
    });
  });
});
