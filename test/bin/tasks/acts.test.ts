import { describe, expect, test } from 'vitest';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { type Printed, verbsOn } from './verbs.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const tasks = verbsOn(cloud);
const why = ['--reason', 'INC-7'];

async function started(name: string, args: object = {}): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
  return body.result.taskId;
}
async function asking(): Promise<string> {
  const taskId = await started('ask');
  await poll(url(), taskId, ({ status }) => status === 'input_required');
  return taskId;
}
/** A task as its client sees it. */
const seen = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body.result;
/** The run of its first round. */
const runOf = (taskId: string) =>
  cloud()
    .stepFunctions.executions()
    .find(({ name }) => name === `${taskId}-r1`);
/** The audit lines that a verb has printed. */
const audited = ({ err }: Pick<Printed, 'err'>) =>
  err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

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
});
