import { describe, expect, test } from 'vitest';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { actsOn, audited } from './acting.ts';

const cloud = useCloud();
const { url, tasks, started, asking, seen, runOf } = actsOn(cloud);
const why = ['--reason', 'INC-7'];

describe('cancel and fail', () => {
  test('end the task, stop its run, and record who and why', async () => {
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

  test('change nothing without a reason, or after the end of the task', async () => {
    const { taskId } = await runTask(url(), 'echo');
    expect(await tasks('cancel', taskId)).toMatchObject({ code: 2, err: expect.stringContaining('--reason TEXT') });
    expect(await tasks('fail', taskId, ...why)).toMatchObject({
      code: 1,
      out: expect.stringContaining('it is completed already'),
    });
    expect(await seen(taskId)).toMatchObject({ status: 'completed' });
  });

  test('with an owner act on no task of another owner', async () => {
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

  test('by the end of an id print the whole id first', async () => {
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

  test('by a filter print the tasks, and act with --yes, on at most --max', async () => {
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

test('the name of a question cannot add a line to what answer says', async () => {
  const question = {
    method: 'elicitation/create',
    params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
  };
  const inputRequests = { first: question, 'b\nNext  mcp-task-server tasks fail\u202e': question };
  const taskId = await started('returns', { json: JSON.stringify({ inputRequests }) });
  await poll(url(), taskId, ({ status }) => status === 'input_required');
  const { out } = await tasks('answer', taskId, 'first=decline', ...why);
  expect(out).toBe('Answered. Still open: r1.b Next  mcp-task-server tasks fail\n');
  const { err } = await tasks('answer', taskId, 'nope=decline', ...why);
  expect(err).toMatch(/r1\.b Next {2}mcp-task-server tasks fail.*\n$/);
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
