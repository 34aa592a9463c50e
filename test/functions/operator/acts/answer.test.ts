import { describe, expect, test, vi } from 'vitest';
import { answerTask } from '../../../../functions/operator/acts/answer.ts';
import { TooManyStarts } from '../../../../functions/tasks/errors.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { cancel } from '../../../../functions/tasks/transitions/end.ts';
import { EXPRESS } from '../../../support/engine/executions.ts';
import {
  ann,
  arnOf,
  asking,
  denied,
  EXPRESS_TOOL,
  failing,
  KEY,
  MINUTE,
  operatorOn,
  repeating,
  T0,
  task,
} from '../operators.ts';

const YES = [['ok', 'true']] as const;
const answered = '{"action":"accept","content":{"ok":true}}';
const DEADLINE = asking().deadlineAt;

describe('answer of an operator', () => {
  test('the last one begins the next round, and starts its run with what the first one had', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { context, records, executions, did, audited } = operatorOn([asking(['a'], { traceparent })]);
    const outcome = await answerTask(KEY, YES, ann, context);
    expect(outcome).toEqual({ taskId: KEY.taskId, done: true, message: 'Answered. Round 2 runs' });
    expect(did).toEqual(['applyBlind', 'start']);
    expect(records.get(KEY.taskId)).toMatchObject({
      status: 'working',
      round: 2,
      inputResponses: { 'r1.a': answered },
    });
    expect(records.get(KEY.taskId)?.events?.at(-1)).toMatchObject({ what: 'answered', by: 'operator', ...ann });
    expect(JSON.parse(executions.get(arnOf(2))?.input ?? '')).toMatchObject({
      ...{ arguments: '{"n":1}', round: 2, traceparent },
    });
    expect(audited).toMatchObject([{ act: 'answer', ...ann, done: true, outcome: outcome.message }]);
  });

  test('one of two leaves the other question open, whose name is not in the audit line', async () => {
    const { context, records, did, audited } = operatorOn([asking(['a', 'b'])]);
    const outcome = await answerTask(KEY, [['a.ok', 'true']], ann, context);
    expect(outcome).toMatchObject({ done: true, message: 'Answered. Still open: r1.b' });
    expect(did).toEqual(['applyBlind']);
    expect(records.get(KEY.taskId)).toMatchObject({ status: 'input_required', inputResponses: { 'r1.a': answered } });
    expect(audited).toMatchObject([{ outcome: 'Answered. 1 open' }]);
  });

  test('the last one begins the next round, also beside a sleep', async () => {
    const waits = JSON.stringify({ a: { kind: 'time', until: T0 + 9 * MINUTE } });
    const { context, records } = operatorOn([asking(['a'], { waits })]);
    const outcome = await answerTask(KEY, YES, ann, context);
    expect(outcome).toMatchObject({ done: true, message: 'Answered. Round 2 runs' });
    expect(records.get(KEY.taskId)).toMatchObject({ status: 'working', round: 2 });
    // What the round before has waited for goes with it.
    expect(records.get(KEY.taskId)).not.toHaveProperty('waits');
  });

  test.each([
    ['of a task that works', task(), 'it asks nothing now'],
    ['of a task that has ended', { ...asking(), ...cancel(T0).set }, 'it is cancelled already, since'],
    ['of a task past its ttl', asking(['a'], { ttl: MINUTE }), 'it is past its ttl, and no reader sees it'],
  ])('%s changes nothing, and says why', async (_which, record, why) => {
    const { context, did, audited } = operatorOn([record]);
    const outcome = await answerTask(KEY, YES, ann, context);
    expect(outcome).toMatchObject({ done: false, message: expect.stringContaining(`Not answered: ${why}`) });
    expect(did).toEqual([]);
    expect(audited).toMatchObject([{ done: false }]);
  });

  test.each([
    [0, true, ['applyBlind', 'start']],
    [1, false, []],
  ])('%d ms after the deadline: done is %s', async (late, done, acts) => {
    const { context, clock, did } = operatorOn([asking()]);
    clock.now = DEADLINE + late;
    expect(await answerTask(KEY, YES, ann, context)).toMatchObject({ done });
    expect(did).toEqual(acts);
  });

  test('whose deadline passes while it is written starts no round: the task is failed', async () => {
    const { context, clock, records } = operatorOn([asking()]);
    const store = {
      ...context.store,
      async applyBlind(...given: Parameters<typeof context.store.applyBlind>) {
        const written = await context.store.applyBlind(...given);
        clock.now = DEADLINE + 1;
        return written;
      },
    };
    expect(await answerTask(KEY, YES, ann, { ...context, store })).toMatchObject({
      done: false,
      message: 'Not answered: its deadline has passed',
    });
    expect(records.get(KEY.taskId)).toMatchObject({ status: 'failed', failure: 'NotAnswered' });
  });

  test('whose write the AWS client repeats, as its answer was lost, is stored: the round runs', async () => {
    const server = operatorOn([asking()]);
    expect(await answerTask(KEY, YES, ann, repeating(server))).toMatchObject({ message: 'Answered. Round 2 runs' });
    expect(server.executions.all()).toHaveLength(1);
    const two = operatorOn([asking(['a', 'b'])]);
    expect(await answerTask(KEY, [['a.ok', 'true']], ann, repeating(two))).toMatchObject({
      ...{ done: true, message: 'Answered. Still open: r1.b' },
    });
  });

  test.each<[string, Partial<TaskRecord>]>([
    ['ended', cancel(T0 + MINUTE).set],
    ['taken to a later round', { round: 3 }],
  ])('whose write is repeated, of a task that another writer has %s, starts nothing', async (_, other) => {
    const server = operatorOn([asking()]);
    const context = repeating(server);
    const get = async () => ({ ...server.records.get(KEY.taskId), ...other });
    const again = {
      ...context.reads,
      get: async (...given: [typeof KEY, boolean]) =>
        server.did.length > 0 ? ((await get()) as never) : context.reads.get(...given),
    };
    expect(await answerTask(KEY, YES, ann, { ...context, reads: again })).toMatchObject({ done: true });
    expect(server.did).toEqual(['applyBlind']);
  });

  test('whose write gets no answer says that it is not known, and so does its audit line', async () => {
    const server = operatorOn([asking()]);
    const message = `It is not known whether this was done (TypeError): see mcp-task-server tasks show ${KEY.taskId}`;
    expect(await answerTask(KEY, YES, ann, failing(server, new TypeError()))).toMatchObject({ done: false, message });
    expect(server.audited).toMatchObject([{ act: 'answer', done: false, outcome: message }]);
  });

  test('that cannot read the task has done nothing: it throws, and writes no audit line', async () => {
    const { context, audited } = operatorOn([asking()]);
    const reads = { ...context.reads, get: () => Promise.reject(new TypeError('down')) };
    await expect(answerTask(KEY, YES, ann, { ...context, reads })).rejects.toThrow('down');
    expect(audited).toEqual([]);
  });

  test('after a lost race decides on what is there now, and pauses at most 20 ms for each race', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { context, slept } = operatorOn([asking()]);
    let lost = 3;
    const store = { ...context.store };
    const write = context.store.applyBlind;
    store.applyBlind = async (...given) => (lost-- > 0 ? false : write(...given));
    expect(await answerTask(KEY, YES, ann, { ...context, store })).toMatchObject({ done: true });
    expect(slept).toEqual([0, 20, 40]);
    vi.restoreAllMocks();
  });

  test('that loses 25 races gives up, and says so', async () => {
    const { context } = operatorOn([asking()]);
    const store = { ...context.store, applyBlind: async () => false };
    await expect(answerTask(KEY, YES, ann, { ...context, store })).rejects.toMatchObject({
      name: 'OperatorError',
      message: 'The task is changing too fast: try again',
    });
  });

  test('that is not valid is refused, and one to no question names the keys', async () => {
    const { context, did } = operatorOn([asking()]);
    await expect(answerTask(KEY, [['ok', 'perhaps']], ann, context)).rejects.toThrow("content['ok']");
    await expect(answerTask(KEY, [['nope', '1']], ann, context)).rejects.toThrow('only: a.ok');
    await expect(answerTask(KEY, [], ann, context)).rejects.toThrow('No answer is given: key=value');
    expect(did).toEqual([]);
  });

  test('whose start fails is stored: the sweep starts the round', async () => {
    const { context, records } = operatorOn([asking()]);
    const workflow = { ...context.workflow, start: async () => Promise.reject(new TooManyStarts(false)) };
    expect(await answerTask(KEY, YES, ann, { ...context, workflow })).toMatchObject({
      done: true,
      message:
        'Answered. Its next round could not be started now (TooManyStarts): the sweep starts it within 2 minutes',
    });
    expect(records.get(KEY.taskId)).toMatchObject({ status: 'working', round: 2 });
  });

  test('of a task whose tool is gone is stored, and says when the task ends', async () => {
    const { context } = operatorOn([asking()], null);
    expect(await answerTask(KEY, YES, ann, context)).toMatchObject({
      done: true,
      message: 'Answered, but this server no longer has the tool: the task ends at its deadline',
    });
  });

  test('whose round has the name of a run that has ended is left to the sweep', async () => {
    const { context, records, executions } = operatorOn([asking(['a'], { digest: 'd' })]);
    executions.put(arnOf(2), { status: 'SUCCEEDED' });
    expect(await answerTask(KEY, YES, ann, context)).toMatchObject({
      done: true,
      message: 'Answered. A run has the name of its next round: the sweep checks it within 2 minutes',
    });
    expect(records.get(KEY.taskId)).toMatchObject({ status: 'working', round: 2 });
  });

  test('that is too large for the record lies in S3 before the record refers to it', async () => {
    const text = 'x'.repeat(limits.inlineInput);
    const schema = { type: 'object', properties: { ok: { type: 'string' } } };
    const form = { method: 'elicitation/create', params: { message: '?', requestedSchema: schema } };
    const { context, did, records, objects } = operatorOn([
      asking(['a'], { asked: JSON.stringify({ inputRequests: { a: form } }) }),
    ]);
    expect(await answerTask(KEY, [['ok', text]], ann, context)).toMatchObject({ done: true });
    expect(objects.did).toEqual(['PUT']);
    expect(did).toEqual(['applyBlind', 'start']);
    expect(records.get(KEY.taskId)?.inputRef).toBeDefined();
    expect([...objects.objects.values()].join()).toContain(text);
  });

  test('on Express starts one run, and leaves a start without an answer to the sweep', async () => {
    const record = asking(['a'], { engine: 'express' });
    const { context, records, executions, did } = operatorOn([record], EXPRESS_TOOL);
    expect(await answerTask(KEY, YES, ann, context)).toMatchObject({ done: true, message: 'Answered. Round 2 runs' });
    expect(executions.all()).toHaveLength(1);
    expect(executions.all()[0]?.arn).toContain(EXPRESS.replace(':stateMachine:', ':express:'));
    expect(did).toEqual(['applyBlind', 'start', 'applyBlind']);
    expect(records.get(KEY.taskId)).toMatchObject({ round: 2, seenRound: 2, engine: 'express' });

    const other = operatorOn([record], EXPRESS_TOOL);
    const workflow = { ...other.context.workflow, start: async () => Promise.reject(new TooManyStarts(false)) };
    await answerTask(KEY, YES, ann, { ...other.context, workflow });
    expect(other.records.get(KEY.taskId)).not.toHaveProperty('seenRound');
  });

  test.each([
    ['write', 'store', 'applyBlind', `Task ${KEY.taskId} is unchanged: your credentials may not change it`],
    ['read the questions', 'reads', 'get', `The payload of task ${KEY.taskId}: your credentials may not read it`],
    ['read what lies in S3', 'inputs', 'whole', 'Not answered: your credentials may not read or store its answers'],
  ] as const)('without the right to %s changes nothing, and names the policy', async (_right, port, method, why) => {
    const { context, records } = operatorOn([asking()]);
    const refused = { ...context[port], [method]: async () => Promise.reject(denied()) };
    await expect(answerTask(KEY, YES, ann, { ...context, [port]: refused })).rejects.toThrow(why);
    expect(records.get(KEY.taskId)).toEqual(asking());
  });

  test('without the right to start is stored, and says what could not be done', async () => {
    const { context } = operatorOn([asking()]);
    const workflow = { ...context.workflow, start: async () => Promise.reject(denied()) };
    expect(await answerTask(KEY, YES, ann, { ...context, workflow })).toMatchObject({
      message: expect.stringContaining('could not be started now (OperatorError)'),
    });
  });
});
