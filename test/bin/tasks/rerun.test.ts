import { describe, expect, test } from 'vitest';
import { type FailureReason, failure } from '../../../functions/tasks/failures.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { fail } from '../../../functions/tasks/transitions/end.ts';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { dynamoDbOf } from '../../support/dynamodb.ts';
import { actsOn, audited } from './acting.ts';

const cloud = useCloud();
const { url, tasks, started, asking, seen, runOf } = actsOn(cloud);
const why = ['--reason', 'INC-7'];

const lost = async (more: object, reason: FailureReason = 'NotStarted') => {
  const store = taskStore(dynamoDbOf(cloud(), 'administrator'), cloud().tables[0] ?? '');
  const task = { tool: 'echo', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
  const record = { ...create(newTaskKey({ kind: 'anonymous' }, Date.now()), task, Date.now()), ...more };
  await store.create(record);
  await store.apply(record, fail(failure(reason), Date.now()));
  return record.taskId;
};

describe('rerun', () => {
  test('makes a new task from the same arguments, linked to the first one', async () => {
    const first = await runTask(url(), 'returns', { json: '{"n":1}' });
    const { newTaskId } = (await tasks('rerun', first.taskId, '--json', ...why)).json().succeeded[0];
    await poll(url(), newTaskId, ended);
    const story = (await tasks('show', newTaskId, '--payload', '--json')).json();
    expect(story).toMatchObject({
      rerunOf: first.taskId,
      status: 'completed',
      payload: { arguments: { json: '{"n":1}' } },
    });
    expect(story.happened[0]).toMatchObject({ what: 'created', by: 'operator', reason: 'INC-7' });
  });

  test('refuses an open task, and one whose effect could repeat without --force', async () => {
    const first = await runTask(url(), 'echo', { n: 1 });
    const refused = await tasks('rerun', first.taskId, ...why);
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('may have had effects already') });
    const { newTaskId } = (await tasks('rerun', first.taskId, '--force', '--json', ...why)).json().succeeded[0];
    expect(await poll(url(), newTaskId, ended)).toMatchObject({ status: 'completed' });
    const open = await asking();
    expect((await tasks('rerun', open, '--force', ...why)).out).toContain('it is still open');
  });
});

describe('rerun never repeats an effect without --force', () => {
  const start = { service: 'states', operation: 'StartExecution', at: 'after', do: 'drop' } as const;

  test('a second rerun of one task is refused, and names the task of the first', async () => {
    const first = await runTask(url(), 'returns', { json: '1' });
    // Two reruns of one person, with one reason, in one millisecond count as one that was sent twice.
    const again = (reason: string) => tasks('rerun', first.taskId, '--reason', reason);
    const [a, b] = await Promise.all([again('INC-7'), again('INC-8')]);
    const [done, refused, reason] = a.code === 0 ? [a, b, 'INC-7'] : [b, a, 'INC-8'];
    expect([done.code, refused.code]).toEqual([0, 1]);
    const newTaskId = /Runs again as (\w+)/.exec(done.out)?.[1] ?? '';
    expect(refused.out).toContain(
      `it was run again before by arn:aws:iam::000000000000:user/administrator (“${reason}”)`,
    );
    expect(refused.out).toContain(newTaskId);
    expect(await poll(url(), newTaskId, ended)).toMatchObject({ status: 'completed' });
    expect((await tasks('rerun', first.taskId, '--force', ...why)).code).toBe(0);
  });

  test('a task without a run is refused, too, unless its record says that it never started', async () => {
    for (const more of [{}, { seenRound: 1 }, { result: '{}' }, { round: 2 }, { express: true }]) {
      const id = await lost({ kept: '{}', ...more }, Object.keys(more).length === 0 ? 'ToolFailed' : undefined);
      expect((await tasks('rerun', id, ...why)).out, JSON.stringify(more)).toContain('may have had effects already');
    }
  });

  test('a start whose answer is lost fails the new task, and stops its run', async () => {
    const first = await started('sleep', { ms: 20_000 });
    await tasks('cancel', first, ...why);
    const fault = cloud().faults.add({ ...start, caller: 'administrator', times: 10 });
    const again = await tasks('rerun', first, '--force', ...why);
    fault.remove();
    expect(again).toMatchObject({ code: 1, out: expect.not.stringContaining('try again') });
    expect(audited(again)).toEqual([expect.objectContaining({ action: 'operator_rerun', done: false })]);
    const newTaskId = /new task (\w+)/.exec(again.out)?.[1] ?? '';
    expect(await seen(newTaskId)).toMatchObject({ status: 'failed' });
    await expect.poll(() => runOf(newTaskId)?.status).toBe('ABORTED');
  });

  test('a client cancels the new task before its start: its run is stopped, the operator learns it', async () => {
    const first = await started('sleep', { ms: 20_000 });
    await tasks('cancel', first, ...why);
    let newTaskId = '';
    cloud().faults.add({
      ...{ service: 'states', operation: 'StartExecution', caller: 'administrator' },
      when: ({ input }) => {
        newTaskId = String(input.name).slice(0, -'-r1'.length);
        return true;
      },
      do: { run: () => modernRequest(url(), 'tasks/cancel', { taskId: newTaskId }) },
    });
    const again = await tasks('rerun', first, '--force', ...why);
    expect(again).toMatchObject({ code: 1, out: expect.stringContaining('was cancelled before its run began') });
    expect(await seen(newTaskId)).toMatchObject({ status: 'cancelled' });
    await expect.poll(() => runOf(newTaskId)?.status).toBe('ABORTED');
  });

  test('a tool that fails at once has run', async () => {
    const first = await runTask(url(), 'throws');
    const again = (await tasks('rerun', first.taskId, '--force', '--json', ...why)).json();
    expect(await poll(url(), again.succeeded[0].newTaskId, ended)).toMatchObject({ status: 'failed' });
  });

  test('a put whose first answer is lost is its own: the task runs', async () => {
    const first = await runTask(url(), 'returns', { json: '2' });
    const fault = cloud().faults.add({
      service: 'dynamodb',
      operation: 'PutItem',
      at: 'after',
      do: 'drop',
      caller: 'administrator',
    });
    const again = await tasks('rerun', first.taskId, '--json', ...why);
    expect(fault.hits).toBe(1);
    expect(await poll(url(), again.json().succeeded[0].newTaskId, ended)).toMatchObject({ status: 'completed' });
  });
});

describe('rerun of a task whose start was lost', () => {
  test('needs no --force, as nothing ran, and uses the arguments that the tool keeps', async () => {
    const again = (await tasks('rerun', await lost({ kept: '{"n":7}' }), '--json', ...why)).json();
    const task = await poll(url(), again.succeeded[0].newTaskId, ended);
    expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { n: 7 } } });
  });

  test('refuses without them, and says how to keep them', async () => {
    const refused = await tasks('rerun', await lost({}), ...why);
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining('Set keepArguments of its tool') });
  });
});
