import { describe, expect, test } from 'vitest';
import { ended, legacySession, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { verbsOn } from './verbs.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const tasks = verbsOn(cloud);
const SECRET = 'sesame-of-ann';

async function asking(): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name: 'ask', arguments: { secret: SECRET } });
  await poll(url(), body.result.taskId, ({ status }) => status === 'input_required');
  return body.result.taskId;
}

describe('a task', () => {
  test('is shown with its rounds and runs, without texts of people', async () => {
    const taskId = await asking();
    const inputResponses = { 'r1.confirm': { action: 'accept', content: { ok: true } } };
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses });
    await poll(url(), taskId, ended);
    const shown = await tasks('show', taskId, '--json');
    const story = shown.json();
    expect(story).toMatchObject({ taskId, tool: 'ask', status: 'completed', round: 2 });
    expect(story.runs).toMatchObject([
      { round: 1, status: 'SUCCEEDED' },
      { round: 2, status: 'SUCCEEDED' },
    ]);
    expect(story.happened[0]).toMatchObject({ what: 'created' });
    expect(story.happened.map(({ what }: { what: string }) => what)).toContain('completed');
    expect(shown.out).not.toContain(SECRET);
    expect(shown.out).not.toContain('Really?');
    expect((await tasks('show', taskId)).out).toContain('are hidden: --payload shows them');
  });

  test('is shown with arguments, questions and answers when asked for', async () => {
    const taskId = await asking();
    const { payload } = (await tasks('show', taskId, '--payload', '--json')).json();
    expect(payload.arguments).toEqual({ secret: SECRET });
    expect(payload.questions).toMatchObject({ 'r1.confirm': { params: { message: 'Really?' } } });
    const done = await runTask(url(), 'echo', { secret: SECRET });
    const after = (await tasks('show', done.taskId, '--payload', '--json')).json().payload;
    expect(after.arguments).toEqual({ secret: SECRET });
    expect(JSON.stringify(after.result)).toContain(SECRET);
  });

  test('is shown with the control characters that its client or its tool wrote escaped', async () => {
    const { taskId } = await runTask(url(), 'echo', { secret: 'a\u009b2Jb\u007fc' });
    expect((await tasks('show', taskId, '--payload')).out).toContain('"secret": "a\\u009b2Jb\\u007fc"');
    const shown = await tasks('show', taskId, '--payload', '--json');
    expect(shown.out).not.toMatch(/[\u007f-\u009f]/);
    expect(shown.json().payload.arguments).toEqual({ secret: 'a\u009b2Jb\u007fc' });
  });

  test('is found by its id, by the end of its id, and as one of a session', async () => {
    const taskId = await asking();
    for (const name of [taskId, taskId.slice(-10), `…${taskId.slice(-10)}`]) {
      expect((await tasks('show', name, '--json')).json(), name).toMatchObject({ taskId });
    }
    const session = await legacySession(url());
    const { body } = await session.request('tools/call', { name: 'ask', arguments: {}, task: {} });
    const mine = body.result.task.taskId;
    expect((await tasks('show', mine, '--json')).json()).toMatchObject({ taskId: mine });
    expect(await tasks('show', '0'.repeat(36))).toMatchObject({ code: 1, err: expect.stringContaining('No task') });
    expect(await tasks('show', 'abc')).toMatchObject({ code: 1, err: expect.stringContaining('too short') });
  });

  test('with an idempotency key is found, too: its id does not say when it was made', async () => {
    const meta = { 'mcp-task-server/idempotencyKey': 'a-key-of-ann-that-is-long-enough' };
    const { body } = await modernRequest(url(), 'tools/call', { name: 'ask', arguments: {} }, { meta });
    const { taskId } = body.result;
    const again = await modernRequest(url(), 'tools/call', { name: 'ask', arguments: {} }, { meta });
    expect(again.body.result.taskId).toBe(taskId);
    expect((await tasks('show', taskId, '--json')).json()).toMatchObject({ taskId, tool: 'ask' });
  });

  test('that failed says why', async () => {
    const { taskId } = await runTask(url(), 'throws');
    const { out } = await tasks('show', taskId);
    expect(out).toMatch(/error +.*\(\w*Error\)/);
    expect(out).toMatch(/attempt failed +round 1 +\w*Error/);
  });
});
