import { describe, expect, test } from 'vitest';
import { type StatusChange, settleEnded } from '../../../functions/reconciler/ended-run.ts';
import { roundInput } from '../../../functions/tasks/round-input.ts';
import { executionArn } from '../../support/engine/memory.ts';
import { answered, fakeContext, record, waiting } from './fake-context.ts';

const input = roundInput(record(), '{}') ?? '';
const change = (over: Partial<StatusChange> = {}): StatusChange => ({
  executionArn: executionArn('t', 1),
  status: 'ABORTED',
  input,
  error: null,
  ...over,
});

describe('the end of a run (row 13)', () => {
  test('fails its task, within one read and one write', async () => {
    const { context, records, did } = fakeContext([record()]);
    expect(await settleEnded(change({ status: 'FAILED', error: 'States.Runtime' }), context)).toBe('run_ended');
    expect(did).toEqual(['get', 'applyBlind']);
    expect(records.get('t')).toMatchObject({ status: 'failed', error: expect.stringContaining('States.Runtime') });
  });

  test('delivered twice acts once', async () => {
    const { context, records } = fakeContext([record()]);
    await settleEnded(change(), context);
    const after = records.get('t');
    expect(await settleEnded(change({ status: 'FAILED' }), context)).toBe('nothing');
    expect(records.get('t')).toEqual(after);
  });

  test.each<[string, Partial<StatusChange>]>([
    ['its input was too large to be sent along', { input: null }],
    ['its input is not there', { input: undefined as never }],
    ['it does not name the error', { error: undefined as never }],
  ])('is asked for where %s', async (_title, over) => {
    const { context, records, executions, did } = fakeContext([record()]);
    executions.put(executionArn('t', 1), { status: 'FAILED', error: 'Told.Later', input });
    expect(await settleEnded(change({ status: 'FAILED', ...over }), context)).toBe('run_ended');
    expect(did).toEqual(['describe', 'get', 'applyBlind']);
    expect(records.get('t')?.error).toContain('Told.Later');
  });

  test('whose state machine asked: the arguments of its input are kept with the questions', async () => {
    const work = executionArn('t', 1).replace('S-standard', 'own');
    const stateMachines = new Map([['x', work.replace(':execution:', ':stateMachine:').replace(/:t-r1$/, '')]]);
    const { context, records, executions } = fakeContext([record()], { stateMachines });
    const output = JSON.stringify({ inputRequests: JSON.parse(waiting().asked ?? '').inputRequests });
    executions.put(work, { status: 'SUCCEEDED', output });
    const asking = change({ input: roundInput(record(), '{"n":7}') ?? '' });
    expect(await settleEnded(asking, context)).toBe('run_ended');
    expect(records.get('t')).toMatchObject({ status: 'input_required', asked: output, arguments: '{"n":7}' });
  });

  test('that was stopped because its task is over needs no read, however large its input (row 15)', async () => {
    const { context, did } = fakeContext([record({ status: 'cancelled' })]);
    const stopped = { ...change(), input: null, status: 'ABORTED', error: 'TaskOver' } as const;
    expect(await settleEnded(stopped, context)).toBe('nothing');
    expect(did).toEqual([]);
    expect(await settleEnded({ ...stopped, error: null, input: change().input ?? null }, context)).toBe('not_stopped');
  });

  test('that could not be read fails the delivery, so that it is tried again', async () => {
    const { context } = fakeContext([record()]);
    context.store.get = async () => {
      throw new Error('down');
    };
    await expect(settleEnded(change(), context)).rejects.toThrow('down');
  });

  const { due: _due, dueAt: _dueAt, ...over } = record({ status: 'completed' });
  test.each([
    ['waits for an answer', waiting()],
    ['is in another round', answered()],
    ['is over', over],
  ])('changes nothing of a task that %s', async (_title, task) => {
    const { context, records } = fakeContext([task]);
    expect(await settleEnded(change(), context)).toBe('nothing');
    expect(records.get('t')).toEqual(task);
  });

  test.each([
    ['was started by hand, with the input of another', executionArn('by-hand', 1)],
    ['is of another round than its input says', executionArn('t', 2)],
    ['is on another engine than the round', executionArn('t', 1).replace('standard', 'machine')],
  ])('changes nothing where the run %s (row 23)', async (_title, executionArn) => {
    const { context, did } = fakeContext([record()]);
    expect(await settleEnded(change({ executionArn }), context)).toBe('nothing');
    expect(did).toEqual(['get']);
  });

  test.each<[string, Partial<StatusChange>]>([
    ['has an input without an owner', { input: '{"taskId":"t","round":1}' }],
    ['has an input without a task', { input: '{"owner":"o","round":1}' }],
    ['has an input without a round', { input: '{"owner":"o","taskId":"t"}' }],
    ['has no object as its input', { input: 'null' }],
    ['has an input that is not JSON', { input: '{' }],
  ])('changes nothing where the run %s', async (_title, over) => {
    const { context, did } = fakeContext([record()]);
    expect(await settleEnded(change(over), context)).toBe('nothing');
    expect(did).toEqual([]);
  });
});
