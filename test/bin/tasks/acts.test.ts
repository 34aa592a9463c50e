import { describe, expect, test } from 'vitest';
import { type FailureReason, failure } from '../../../functions/tasks/failures.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { create, fail } from '../../../functions/tasks/transitions.ts';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { dynamoDbOf } from '../../support/dynamodb.ts';
import { verbsOn } from './verbs.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const tasks = verbsOn(cloud);
const why = ['--reason', 'INC-7'];

async function started(name: string, args: object = {}): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
  return body.result.taskId;
}
async function asking(name = 'ask'): Promise<string> {
  const taskId = await started(name);
  await poll(url(), taskId, ({ status }) => status === 'input_required');
  return taskId;
}
const seen = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body.result;
const runOf = (taskId: string) =>
  cloud()
    .stepFunctions.executions()
    .find(({ name }) => name === `${taskId}-r1`);
const audited = ({ err }: { err: string }) =>
  err
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe('cancel and fail', () => {
  test('end the task, stop its run, and tell who and why', async () => {
    for (const [verb, status] of [
      ['cancel', 'cancelled'],
      ['fail', 'failed'],
    ] as const) {
      const taskId = await started('sleep', { ms: 20_000 });
      await expect.poll(() => runOf(taskId)?.status).toBe('RUNNING');
      const done = await tasks(verb, taskId, ...why);
      expect(done.code).toBe(0);
      expect(audited(done)).toEqual([
        expect.objectContaining({ event: 'audit', action: `operator_${verb}`, taskId, reason: 'INC-7', done: true }),
      ]);
      expect(audited(done)[0].who).toBe('arn:aws:iam::000000000000:user/administrator');
      expect(await seen(taskId)).toMatchObject({ status });
      await expect.poll(() => runOf(taskId)?.status).toBe('ABORTED');
      const { happened } = (await tasks('show', taskId, '--json')).json();
      expect(happened).toContainEqual(
        expect.objectContaining({ what: status, by: 'operator', reason: 'INC-7', who: audited(done)[0].who }),
      );
      const again = await tasks(verb, taskId, ...why);
      expect(again.code).toBe(1);
      expect(again.out).toContain(`it is ${status} already by arn:aws:iam::000000000000:user/administrator (“INC-7”)`);
    }
  });

  test('change nothing without a reason, and of a task that has ended', async () => {
    const { taskId } = await runTask(url(), 'echo');
    expect(await tasks('cancel', taskId)).toMatchObject({ code: 2, err: expect.stringContaining('--reason TEXT') });
    expect(await tasks('fail', taskId, ...why)).toMatchObject({
      code: 1,
      out: expect.stringContaining('it is completed already'),
    });
    expect(await seen(taskId)).toMatchObject({ status: 'completed' });
  });

  test('with an owner act on no task of another one', async () => {
    const taskId = await asking();
    const other = ['--owner', `task#${'0'.repeat(36)}`];
    for (const name of [taskId, taskId.slice(-10)]) {
      for (const verb of ['cancel', 'fail', 'rerun'] as const)
        expect(await tasks(verb, name, ...other, ...why), verb).toMatchObject({ code: 1, out: '' });
      expect(await tasks('answer', name, 'ok=true', ...other, ...why)).toMatchObject({ code: 1, out: '' });
    }
    expect(await seen(taskId)).toMatchObject({ status: 'input_required' });
    expect((await tasks('cancel', taskId, '--owner', `task#${taskId}`, ...why)).code).toBe(0);
  });

  test('by the end of an id say first which task it is', async () => {
    const taskId = await asking();
    const head = new RegExp(`^Task ${taskId}: ask, created [0-9]+ s ago, owner task#${taskId}\n`);
    const end = taskId.slice(-10);
    expect((await tasks('answer', end, 'ok=perhaps', ...why)).out).toMatch(head);
    expect((await tasks('cancel', end, '--json', ...why)).json().succeeded).toMatchObject([{ taskId }]);
    expect((await tasks('cancel', end, ...why)).out).toMatch(head);
    expect((await tasks('cancel', taskId, ...why)).out).not.toMatch(head);
  });

  test('refuse an option without a value, which would widen what they act on', async () => {
    const refused = await tasks('cancel', '--owner', '', '--tool', 'ask', '--yes', ...why);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--owner has no value') });
  });

  test('by a filter say what they would do, and do it with --yes, at most --max', async () => {
    const ids = [];
    for (let i = 0; i < 4; i++) ids.push(await asking('ask_two'));
    const dry = (await tasks('cancel', '--tool', 'ask_two', '--json', ...why)).json();
    expect(dry.dryRun.toSorted()).toEqual(ids.toSorted());
    expect(await seen(ids[0] ?? '')).toMatchObject({ status: 'input_required' });
    const some = (
      await tasks('cancel', '--tool', 'ask_two', '--yes', '--max', '3', '--rate', '100', '--json', ...why)
    ).json();
    expect(some.succeeded).toHaveLength(3);
    expect(some.failed).toEqual([]);
    const rest = await tasks('fail', '--tool', 'ask_two', '--yes', ...why);
    expect(rest.code).toBe(0);
    expect((await tasks('list', '--tool', 'ask_two', '--json')).json().tasks).toEqual([]);
  });
});

describe('answer', () => {
  test('starts the next round, as an answer of the client does', async () => {
    const taskId = await asking();
    const done = await tasks('answer', taskId, 'ok=true', ...why);
    expect(done).toMatchObject({ code: 0, out: 'Answered. Round 2 runs\n' });
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
    expect((await tasks('show', taskId, '--json')).json().happened).toContainEqual(
      expect.objectContaining({ what: 'answered', by: 'operator', reason: 'INC-7' }),
    );
    expect((await tasks('answer', taskId, 'ok=true', ...why)).out).toContain('Not answered: it is completed already');
  });

  test('checks an answer as the endpoint does, and names the keys that there are', async () => {
    const taskId = await asking();
    expect((await tasks('answer', taskId, 'ok=perhaps', ...why)).err).toContain("content['ok']");
    expect((await tasks('answer', taskId, 'nope=1', ...why)).err).toContain("No question has 'nope', only: confirm.ok");
    expect(await seen(taskId)).toMatchObject({ status: 'input_required' });
    expect((await tasks('answer', taskId, 'confirm=decline', ...why)).code).toBe(0);
    await poll(url(), taskId, ended);
  });
});

test('the audit line of an answer counts the open questions, and names none', async () => {
  const taskId = await asking('ask_two');
  const open = Object.keys((await tasks('show', taskId, '--payload', '--json')).json().payload.questions);
  const answered = await tasks('answer', taskId, `${open[0]}=decline`, ...why);
  expect(answered.out).toBe(`Answered. Still open: ${open[1]}\n`);
  expect(audited(answered)).toEqual([expect.objectContaining({ done: true, outcome: 'Answered. 1 open' })]);
  await tasks('cancel', taskId, ...why);
});

describe('answer of a task with an idempotency key', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const keyed = async (key: string) => {
    const meta = { 'mcp-task-server/idempotencyKey': `the-long-key-of-${key}-${'0123456789'.repeat(3)}`, traceparent };
    const { body } = await modernRequest(url(), 'tools/call', { name: 'ask', arguments: {} }, { meta });
    await poll(url(), body.result.taskId, ({ status }) => status === 'input_required');
    return body.result.taskId as string;
  };

  test('starts the round in the trace of the call', async () => {
    const taskId = await keyed('ann');
    expect((await tasks('answer', taskId, 'ok=true', ...why)).code).toBe(0);
    const starts = cloud()
      .calls.since()
      .filter(({ operation }) => operation === 'StartExecution')
      .map(({ input }) => input as { readonly name: string; readonly input: string });
    const inputs = starts.filter(({ name }) => name.startsWith(taskId)).map(({ input }) => JSON.parse(input));
    expect(inputs).toMatchObject([
      { round: 1, traceparent },
      { round: 2, traceparent },
    ]);
  });

  test('fails it if its round has the name of a run of an older task, as the endpoint does', async () => {
    const taskId = await keyed('ben');
    const error = { error: 'ExecutionAlreadyExists', status: 400 };
    cloud().faults.add({ service: 'states', operation: 'StartExecution', caller: 'administrator', do: error });
    const answered = await tasks('answer', taskId, 'ok=true', ...why);
    expect(answered).toMatchObject({ code: 1, out: expect.stringContaining('use a new key') });
    expect(await seen(taskId)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('use a new key') },
    });
  });
});

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

  test('refuses what could repeat an effect, unless --force, and what is open', async () => {
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

const lost = async (more: object, reason: FailureReason = 'NotStarted') => {
  const store = taskStore(dynamoDbOf(cloud(), 'administrator'), cloud().tables[0] ?? '');
  const task = { tool: 'echo', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
  const record = { ...create(newTaskKey({ kind: 'anonymous' }, Date.now()), task, Date.now()), ...more };
  await store.create(record);
  await store.apply(record, fail(failure(reason), Date.now()));
  return record.taskId;
};

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

test('two people cancel and answer the same task at once: one outcome, and both learn it', async () => {
  for (let i = 0; i < 8; i++) {
    const taskId = await asking();
    const [cancelled, answered] = await Promise.all([
      tasks('cancel', taskId, '--json', '--reason', 'ann'),
      tasks('answer', taskId, 'ok=true', '--json', '--reason', 'ben'),
    ]);
    const task = await poll(url(), taskId, ended);
    const cancel = [...cancelled.json().succeeded, ...cancelled.json().failed][0];
    // A cancel may come after the answer; an answer never after the cancel.
    expect(task.status).toBe(cancel.done ? 'cancelled' : 'completed');
    if (!answered.json().done)
      expect(answered.json().message).toMatch(/Not answered: it is cancelled already by .* \(“ann”\)/);
    if (!cancel.done) expect(cancel.message).toMatch(/completed already|has changed meanwhile/);
    expect(cancel.done || answered.json().done).toBe(true);
    for (const printed of [cancelled, answered]) expect(audited(printed)).toHaveLength(1);
  }
});
