import { describe, expect, test } from 'vitest';
import { runFailure } from '../../../functions/tasks/failures.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskEvent, TaskRecord } from '../../../functions/tasks/record.ts';
import { dueIndex } from '../../../functions/tasks/table/due-index.ts';
import { answer } from '../../../functions/tasks/transitions/answers.ts';
import { after, type Change } from '../../../functions/tasks/transitions/change.ts';
import { cancel, fail } from '../../../functions/tasks/transitions/end.ts';
import { AwsError, StatesError } from '../../../local/testing.ts';
import type { Referee } from '../referee.ts';
import { AWKWARD, newTask, now, question } from '../tasks.ts';
import { args, returned, runsOn, thrown } from './runs.ts';

const asking = JSON.stringify({ inputRequests: { a: question }, requestState: { n: 1 } });

/** The attributes that the workflow removes when it completes or fails a task: the same as in `transitions/end.ts`. */
const ended = cancel(now).remove ?? [];
const someTime = expect.any(Number);
const written = (what: TaskEvent['what'], round?: number): TaskEvent => ({
  ...{ at: someTime, what, startedAt: someTime },
  ...(round !== undefined && { round }),
});
const completed: Change = {
  ...{ from: ['working'], set: { status: 'completed' }, remove: ended },
  event: written('completed'),
};

/** The tool workflow's own writes: its expressions, evaluated and run by the embedded Step Functions, on this DynamoDB. */
export function finishContract(referee: () => Referee): void {
  const store = () => referee().store;

  const { run, runMachine } = runsOn(referee);
  const created = async (more: Partial<TaskRecord> = {}) => {
    const record = newTask(more);
    await store().create(record);
    return record;
  };
  const finished = { status: 'SUCCEEDED', states: ['Run', 'Finish'] };
  const superseded = { status: 'SUCCEEDED', states: ['Run', 'Finish', 'Superseded'] };
  const failedFor = (record: TaskRecord, reason: string): unknown => {
    const { from, set, remove } = fail(runFailure(reason), now);
    return {
      ...after(record, { from, set, ...(remove && { remove }), event: written('failed') }),
      updatedAt: someTime,
    };
  };

  test.each([
    ['{"id":9007199254740993,"pi":3.14159265358979323846}', false],
    ['{"content":[],"isError":true}', true],
    ['null', false],
    ['""', false],
    ['{"__proto__":{"a":1},"a.b":"{% $x %}"}', false],
  ])('the result %s completes the task', async (payload, isError) => {
    const record = await created();
    expect(await run(record, returned(payload))).toMatchObject(finished);
    expect(await store().get(record)).toStrictEqual({
      ...after(record, completed),
      ...{ result: payload, isError, updatedAt: someTime },
    });
  });

  test('the largest result of a record, of every script', async () => {
    const record = await created();
    const rest = limits.result.inline - Buffer.byteLength(JSON.stringify([...AWKWARD, '']));
    const payload = JSON.stringify([...AWKWARD, 'x'.repeat(rest)]);
    expect(await run(record, returned(payload))).toMatchObject(finished);
    expect((await store().get(record))?.result).toBe(payload);
  });

  test('the end of a task removes its input, and its entry in the index', async () => {
    const record = await created({ due: '90', arguments: '{}', inputRef: 'x.1', refused: { a: 1 } });
    expect(await run(record, returned('1'))).toMatchObject(finished);
    const expected = { ...after(record, completed), result: '1', isError: false, updatedAt: someTime };
    expect(await store().get(record)).toStrictEqual(expected);
    const due = () => dueIndex(referee().dynamoDb, referee().table, 10).page(90, now + 86_400_000);
    await expect.poll(due, { interval: 20 }).toMatchObject({ keys: [] });
  });

  test.each([
    ['of the function', () => thrown('TypeError'), 'TypeError'],
    ['of Lambda', () => new AwsError('ResourceNotFoundException', 'a secret'), 'Lambda.ResourceNotFoundException'],
  ])('an error fails the task, with its reason and nothing else (A-15): %s', async (_what, result, reason) => {
    const record = await created();
    expect(await run(record, result())).toMatchObject(finished);
    expect(await store().get(record)).toStrictEqual(failedFor(record, reason));
  });

  test('the outcome of a state machine is written by the same changes', async () => {
    const [good, bad] = [await created(), await created()];
    const Output = '{"id":9007199254740993}';
    expect(await runMachine(good, { Status: 'SUCCEEDED', Output })).toMatchObject(finished);
    const expected = { ...after(good, completed), result: Output, isError: false, updatedAt: someTime };
    expect(await store().get(good)).toStrictEqual(expected);

    const failure = new StatesError('States.TaskFailed', '{"Cause":"secret","Error":"OutOfStock"}');
    expect(await runMachine(bad, failure)).toMatchObject(finished);
    expect(await store().get(bad)).toStrictEqual(failedFor(bad, 'OutOfStock'));
  });

  test('questions end the round; the answer starts the next, and its result completes the task', async () => {
    const record = await created({ refused: { a: 1 } });
    expect(await run(record, returned(asking))).toMatchObject(finished);
    const waiting = (await store().get(record)) ?? record;
    const { refused: _, ...rest } = record;
    expect(waiting).toStrictEqual({
      ...rest,
      ...{ status: 'input_required', asked: asking, arguments: args, dueAt: record.deadlineAt + 30_000 },
      updatedAt: someTime,
      events: [...(record.events ?? []), written('asked')],
    });
    const answered = await store().apply(waiting, answer(waiting, ['r1.a'], { 'r1.a': '{"action":"accept"}' }, now));
    expect(answered).toMatchObject({ status: 'working', round: 2 });
    expect(await run(answered ?? record, returned('"done"'))).toMatchObject(finished);
    const end = {
      ...after(answered ?? record, { ...completed, event: written('completed', 2) }),
      result: '"done"',
      isError: false,
      updatedAt: someTime,
    };
    expect(await store().get(record)).toStrictEqual(end);
  });

  test.each([
    ['came before: it is due at once', { early: 5 }, 5],
    ['has not come: it is due when the wait is over', {}, now + 70_000],
  ])('a round waits for a link whose signal %s', async (_what, more, dueAt) => {
    const record = await created(more);
    const waits = { a: { kind: 'link', until: now + 70_000 } };
    expect(await run(record, returned('{}', waits))).toMatchObject(finished);
    expect(await store().get(record)).toMatchObject({ status: 'waiting', dueAt, waits: JSON.stringify(waits) });
  });

  describe('an outcome that no longer counts is not written: the execution ends superseded', () => {
    test('the task was cancelled (rows 14, 15)', async () => {
      const record = await created();
      const meanwhile = () => store().apply(record, cancel(now));
      expect(await run(record, returned('1'), meanwhile)).toMatchObject(superseded);
      expect(await store().get(record)).toEqual(after(record, cancel(now)));
    });

    test('another round has begun', async () => {
      const record = await created({ round: 2 });
      expect(await run({ ...record, round: 1 }, returned('1'))).toMatchObject(superseded);
      expect(await store().get(record)).toEqual(record);
    });

    test('it was written already, and the answer lost (row 12)', async () => {
      const record = await created();
      expect(await run(record, returned('1'))).toMatchObject(finished);
      const written = await store().get(record);
      expect(await run(record, returned('2'))).toMatchObject(superseded);
      expect(await store().get(record)).toEqual(written);
    });

    test('its deadline has passed, and the time for late writes', async () => {
      const record = await created({ deadlineAt: Date.now() - limits.lateWrite - 1 });
      expect(await run(record, returned('1'))).toMatchObject(superseded);
      expect(await store().get(record)).toEqual(record);
      const late = await created({ deadlineAt: Date.now() - limits.lateWrite + 5_000 });
      expect(await run(late, returned('1'))).toMatchObject(finished);
    });

    test('the record is gone: its outcome makes no new one (row 18)', async () => {
      const record = newTask();
      expect(await run(record, returned('1'))).toMatchObject(superseded);
      expect(await store().get(record)).toBeUndefined();
    });
  });

  test('of the outcome and 20 cancels at the same time one wins', async () => {
    const record = await created();
    const cancels: Promise<TaskRecord | undefined>[] = [];
    const meanwhile = async () => {
      cancels.push(...Array.from({ length: 20 }, (_, i) => store().apply(record, cancel(now + i))));
    };
    const { states } = await run(record, returned('1'), meanwhile);
    const won = (await Promise.all(cancels)).filter((left) => left !== undefined);
    expect(won).toHaveLength(states.includes('Superseded') ? 1 : 0);
    expect((await store().get(record))?.status).toBe(states.includes('Superseded') ? 'cancelled' : 'completed');
  });

  test('a record over 400 KB fails the execution by name, and does not change (row 10)', async () => {
    const record = await created({ digest: 'x'.repeat(408_300) });
    const long = JSON.stringify('x'.repeat(limits.result.inline - 2));
    expect(await run(record, returned(long), undefined, 200)).toMatchObject({
      ...{ status: 'FAILED', error: 'DynamoDB.AmazonDynamoDBException', cause: expect.stringMatching(/size/i) },
    });
    expect(await store().get(record)).toEqual(record);
  });
}
