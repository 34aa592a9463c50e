import { describe, expect, test } from 'vitest';
import { receiveSignal } from '../../../functions/engine/receive.ts';
import { storeOutcome } from '../../../functions/task-events/store-outcome.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { storedResult } from '../../../functions/tasks/results/result-ref.ts';
import type { ResultStore } from '../../../functions/tasks/results/result-store.ts';
import { inputStore } from '../../../functions/tasks/s3/input-store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { after } from '../../../functions/tasks/transitions/change.ts';
import { cancel } from '../../../functions/tasks/transitions/end.ts';
import { receive } from '../../../functions/tasks/transitions/waits.ts';
import { storedSignal } from '../../../functions/tasks/waits/signals.ts';
import { memoryEngine } from '../../support/engine/memory.ts';

const T0 = 1_700_000_000_000;
const task = { tool: 'x', ttl: 600_000, timeout: 60_000, accepts: [], legacy: false };
const working = create({ owner: 'o', taskId: 't' }, task, T0);
const text = JSON.stringify('x'.repeat(limits.result.inline));
const outcome = { owner: 'o', taskId: 't', round: 1, text, isError: false, asks: false };

/** A second after the task was made. `before` runs between the read and the write. */
function setup(record: TaskRecord | undefined, before: () => void = () => {}) {
  const clock = { now: T0 + 1_000 };
  const { store, inputs, objects, records } = memoryEngine(() => clock.now);
  if (record !== undefined) records.set(record);
  const { applyBlind } = store;
  store.applyBlind = (key, change) => {
    before();
    return applyBlind(key, change);
  };
  const results: Pick<ResultStore, 'put'> = objects;
  const context = { store, results, inputs, now: () => clock.now };
  return { clock, objects, records, context, stored: () => records.get('t') };
}

test('the object is stored, then the task ends with a reference, as the workflow writes it', async () => {
  const { stored, objects, context } = setup(working);
  await storeOutcome({ ...outcome, startedAt: T0 + 5, retries: 2 }, context);
  expect(stored()).toMatchObject({ status: 'completed', isError: false, updatedAt: T0 + 1_000 });
  expect(storedResult(stored()?.result ?? '')).toMatchObject({ bytes: text.length, in: 'outcomes' });
  expect(stored()?.events?.at(-1)).toEqual({ at: T0 + 1_000, what: 'completed', startedAt: T0 + 5, retries: 2 });
  expect([...objects.objects.values()]).toEqual([text]);
});

test('a repeat changes nothing, and stores nothing', async () => {
  const { clock, stored, objects, context } = setup(working);
  await storeOutcome(outcome, context);
  const first = stored();
  clock.now += 1_000;
  await storeOutcome(outcome, context);
  expect([stored(), objects.did]).toEqual([first, ['PUT']]);
});

test.each<[string, TaskRecord | undefined, number]>([
  ['has ended', after(working, cancel(T0)), 0],
  ['is in a later round', { ...working, round: 2 }, 0],
  ['is gone', undefined, 0],
  ['is over', working, 60_000 + limits.lateWrite],
])('a task that %s stays as it is', async (_what, record, later) => {
  const { clock, stored, objects, context } = setup(record);
  clock.now += later;
  await storeOutcome(outcome, context);
  expect([stored(), objects.did]).toEqual([record, []]);
});

test('a cancel that comes first wins, and no end is written too late for readers (F-09)', async () => {
  const raced = setup(working, () => {
    raced.records.set(after(working, cancel(T0)));
  });
  await storeOutcome(outcome, raced.context);
  expect(raced.stored()?.status).toBe('cancelled');
  const slow = setup(working);
  const { put } = slow.objects;
  slow.context.results = {
    ...slow.objects,
    put: async (...given) => {
      await put(...given);
      slow.clock.now += 80_000;
    },
  };
  await storeOutcome(outcome, slow.context);
  expect(slow.stored()?.status).toBe('working');
});

test('an error of S3 reaches the workflow, which tries again: the task works on', async () => {
  const { stored, objects, context } = setup(working);
  objects.state.down = 'SlowDown';
  await expect(storeOutcome(outcome, context)).rejects.toThrow('SlowDown');
  expect(stored()).toEqual(working);
  delete objects.state.down;
  await storeOutcome(outcome, context);
  expect(stored()?.status).toBe('completed');
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
    const { stored, objects, context } = setup(asking);
    await storeOutcome({ ...questions, startedAt: T0 + 5 }, context);
    const record = stored();
    expect(record).toMatchObject({ status: 'input_required', inputRef: expect.any(String) });
    expect([record?.asked, record?.arguments]).toEqual([undefined, undefined]);
    expect(record?.events?.at(-1)).toEqual({ at: T0 + 1_000, what: 'asked', startedAt: T0 + 5 });
    expect(await inputStore(objects).whole(record as TaskRecord)).toMatchObject({
      asked: questions.text,
      arguments: '{"n":1}',
    });
  });

  test('keeps its arguments, also if a large signal came before and lies in S3', async () => {
    const { context, stored, objects } = setup(asking);
    const { store, inputs, now } = context;
    const signal = (at: number) => ({ body: 'x'.repeat(limits.inlineInput), at });
    const receiving = {
      read: () => store.get(asking),
      name: 'paid',
      until: T0 + 60_000,
      signal,
      sleep: async () => {},
    };
    await receiveSignal(receiving, { store, inputs, now, log: () => {} });
    expect(stored()).toMatchObject({ status: 'working', inputRef: expect.any(String) });
    const waits = { paid: { kind: 'webhook', until: T0 + 60_000 } } as const;
    await storeOutcome({ ...questions, waits }, context);
    const whole = await inputStore(objects).whole(stored() as TaskRecord);
    expect(whole).toMatchObject({ asked: questions.text, arguments: '{"n":1}' });
    expect(storedSignal(whole, 'paid')?.signal).toEqual(signal(T0 + 1_000));
  });

  test('of which its client cannot be asked fails', async () => {
    const { stored, objects, context } = setup(working);
    await storeOutcome({ ...questions, startedAt: T0 + 5 }, context);
    expect(stored()).toMatchObject({ status: 'failed', failure: 'InputNotSupported' });
    expect(stored()?.events?.at(-1)).toEqual({ at: T0 + 1_000, what: 'failed', startedAt: T0 + 5 });
    expect(objects.did).toEqual([]);
  });

  test('in S3 goes on with what an earlier round has put there', async () => {
    const first = setup(asking);
    await storeOutcome(questions, first.context);
    const again = { ...(first.stored() as TaskRecord), status: 'working', round: 2 } as const;
    const { stored, context } = setup(again);
    const inputs = inputStore(first.objects);
    const { arguments: _, ...later } = questions;
    await storeOutcome({ ...later, round: 2 }, { ...context, inputs });
    expect(await inputs.whole(stored() as TaskRecord)).toMatchObject({
      asked: questions.text,
      arguments: '{"n":1}',
    });
  });
});

test.each([
  ['null', { a: null }],
  ['without a time', { a: { kind: 'time' } }],
  ['with a time as text', { a: { kind: 'time', until: 'x' } }],
  ['large', { a: { kind: 'more', text: 'x'.repeat(100_000) } }],
])('a wait that is not valid fails its task by name, also beside a large state: %s', async (_what, waits) => {
  const { stored, objects, context } = setup(working);
  await storeOutcome({ ...outcome, arguments: '{}', waits: waits as never }, context);
  expect(stored()).toMatchObject({ status: 'failed', failure: 'WaitInvalid' });
  expect([stored()?.waits, objects.did]).toEqual([undefined, []]);
});

test('a signal between the read and the write makes its round due, also where nothing is large', async () => {
  const until = T0 + 600_000;
  let came = false;
  const { records, context, stored } = setup({ ...working, arguments: '{}' }, () => {
    if (came) return;
    came = true;
    const record = records.get('t') as TaskRecord;
    records.set(after(record, receive(record, 'person', { round: 1, early: true, signal: { body: 1, at: T0 } }, T0)));
  });
  const waits = { person: { kind: 'link', until } } as const;
  await storeOutcome({ ...outcome, text: '{"requestState":1}', waits }, context);
  expect(stored()).toMatchObject({ status: 'waiting', signalled: ['person'] });
  expect(stored()?.dueAt).toBeLessThan(T0 + 60_000);
});
