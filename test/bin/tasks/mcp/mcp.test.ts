import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDir } from '../../../../local/test/fixture.ts';
import { modernRequest, poll, runTask } from '../../../support/clients.ts';
import { useAssembly, useCloud } from '../../../support/cloud.ts';
import { verbsOn } from '../verbs.ts';
import { environment, operatorOn } from './client.ts';

const READING = ['list_tasks', 'show_task', 'explain_task', 'task_logs', 'list_subscriptions'];
const ACTING = ['cancel_task', 'fail_task', 'answer_task', 'rerun_task', 'end_subscription'];
const cloud = useCloud('assembly', { assembly: useAssembly('test/support/apps/operator-app.ts') });
const url = () => `${cloud().url}/mcp`;
const reason = 'INC-7';

const started = (args: readonly string[] = [], role?: string) =>
  operatorOn(['--stack', cloud().stacks[0] ?? '', ...args], environment(cloud(), role));
async function asking(args: object = {}, name = 'ask'): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
  await poll(url(), body.result.taskId, ({ status }) => status === 'input_required');
  return body.result.taskId;
}
const statusOf = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body.result.status;

describe('the tools', () => {
  test('are the reading verbs; the acting ones only with --allow-writes', async () => {
    const { client } = await started();
    const { tools } = await client.listTools();
    expect(tools.map(({ annotations }) => annotations)).toEqual(READING.map(() => ({ readOnlyHint: true })));
    expect(client.getInstructions()).toContain('It is read-only');
    const writing = await started(['--allow-writes']);
    const all = (await writing.client.listTools()).tools;
    expect(all.map(({ name }) => name)).toEqual([...READING, ...ACTING]);
    for (const { name, annotations, inputSchema } of all.filter((tool) => ACTING.includes(tool.name))) {
      expect(annotations, name).toEqual({ readOnlyHint: false, destructiveHint: true });
      const one = name === 'end_subscription' ? 'subscription' : 'taskId';
      expect(inputSchema.required, name).toEqual(expect.arrayContaining([one, 'reason']));
    }
  });

  test('speak both revisions', async () => {
    for (const mode of ['legacy', 'auto'] as const) {
      const args = ['--stack', cloud().stacks[0] ?? ''];
      const { client } = await operatorOn(args, environment(cloud()), { versionNegotiation: { mode } });
      expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern');
      expect((await client.listTools()).tools).toHaveLength(READING.length);
    }
  });
});

describe('reading', () => {
  test('lists, shows, explains and logs a task: the data is what --json prints', async () => {
    const taskId = await asking();
    const done = (await runTask(url(), 'echo')).taskId;
    const { call } = await started();
    const tasks = verbsOn(cloud);
    const listed = await call('list_tasks', { tool: 'ask', newerThan: '1h' });
    expect(listed.data).toEqual((await tasks('list', '--tool', 'ask', '--newer-than', '1h', '--json')).json());
    expect(listed.data.tasks).toContainEqual(expect.objectContaining({ taskId, status: 'input_required' }));
    expect(listed.json()).toEqual(listed.data);
    const ids = (await call('list_tasks', { status: 'completed' })).data.tasks.map(
      (one: { taskId: string }) => one.taskId,
    );
    expect(ids).toContain(done);
    expect(ids).not.toContain(taskId);
    const shown = await call('show_task', { taskId: taskId.slice(-10) });
    expect(shown.data).toEqual((await tasks('show', taskId, '--json')).json());
    expect(shown.text).toBe(`Task ${taskId} is input_required, in round 1.`);
    const explained = await call('explain_task', { taskId });
    expect(explained.data).toEqual((await tasks('explain', taskId, '--json')).json());
    expect(explained.text).toBe(`Task ${taskId} is input_required: asks, and gets no answer.`);
    const logs = await call('task_logs', { part: 'endpoint', since: '1h' });
    expect(logs.data.lines.length).toBeGreaterThan(0);
    expect(logs.data.lines.length).toBeLessThanOrEqual(200);
    expect(await call('task_logs', { taskId })).toMatchObject({ data: { lines: expect.any(Array) } });
  });

  test('an error of a verb is a tool error with its sentence', async () => {
    const { call } = await started();
    for (const [name, input, sentence] of [
      ['show_task', { taskId: '0'.repeat(36) }, `No task '${'0'.repeat(36)}'`],
      ['show_task', { taskId: 'abc' }, 'too short'],
      ['list_tasks', { cursor: 'abc' }, 'is not one that a list with these options gave'],
      ['list_tasks', { olderThan: '5' }, 'olderThan'],
      ['list_tasks', { status: 'done' }, 'status'],
      ['task_logs', {}, 'logs takes the id of one task, or --part'],
      ['task_logs', { part: 'x' }, '--part is one of endpoint, reconciler, events'],
      ['show_task', { taskId: '--payload' }, "'--payload' is too short"],
    ] as const) {
      const { isError, text, data } = await call(name, input);
      expect({ isError, text, data }, name).toEqual({
        ...{ isError: true, data: undefined, text: expect.stringContaining(sentence) },
      });
    }
    await expect(call('cancel_task', { taskId: '0'.repeat(36), reason })).rejects.toThrow('cancel_task not found');
  });

  test('without --stack acts on the dev of its folder, even if it starts later', async () => {
    const folder = temporaryDir();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { call } = await operatorOn([], environment(cloud()), { cwd: folder });
    expect(await call('list_tasks')).toMatchObject({
      isError: true,
      text: expect.stringContaining("No 'mcp-task-server dev' runs in this folder"),
    });
    const session = join(folder, 'cdk.out/mcp-task-server-dev/1');
    mkdirSync(session, { recursive: true });
    const { endpoint, region, stacks } = cloud();
    writeFileSync(join(session, 'server.json'), JSON.stringify({ pid: process.pid, endpoint, region, stacks }));
    expect(await call('list_tasks')).toMatchObject({ data: { tasks: expect.any(Array) } });
  });
});

describe('acting', () => {
  test('cancels one task, with the audit line on stderr', async () => {
    const taskId = await asking();
    const { call, err } = await started(['--allow-writes']);
    const { text, data, isError } = await call('cancel_task', { taskId, reason });
    expect({ data, isError }).toEqual({ data: { taskId, done: true, message: text }, isError: undefined });
    expect(await statusOf(taskId)).toBe('cancelled');
    const audited = () =>
      err()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
    await expect
      .poll(audited)
      .toEqual([expect.objectContaining({ action: 'operator_cancel', taskId, reason, via: 'mcp', done: true })]);
    const again = await call('fail_task', { taskId, reason });
    expect(again).toMatchObject({ isError: true, data: { done: false } });
    expect(again.text).toContain('it is cancelled already by arn:aws:iam::000000000000:user/administrator (“INC-7”)');
  });

  test('needs a reason and one task: a filter is refused, and nothing changes', async () => {
    const taskId = await asking();
    const { call } = await started(['--allow-writes']);
    for (const input of [{ taskId }, { taskId, reason: ' ' }, { tool: 'ask', reason }, { tool: 'ask', taskId, reason }])
      expect(await call('cancel_task', input)).toMatchObject({ isError: true, data: undefined });
    expect(await call('cancel_task', { taskId: '', reason })).toMatchObject({ isError: true });
    expect(await statusOf(taskId)).toBe('input_required');
  });

  test('with the read policy alone changes nothing, and the error names the policy', async () => {
    const taskId = await asking();
    const { call } = await started(['--allow-writes', '--payload'], 'Reader');
    const cancelled = await call('cancel_task', { taskId, reason });
    expect(cancelled).toMatchObject({ isError: true, text: expect.stringContaining('The act policy of the server') });
    const shown = await call('show_task', { taskId, payload: true });
    expect(shown).toMatchObject({ isError: true, text: expect.stringContaining('The payload policy of the server') });
    expect(await statusOf(taskId)).toBe('input_required');
  });
});
