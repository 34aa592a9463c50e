import { describe, expect, test } from 'vitest';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';
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

  test('that failed says why', async () => {
    const { taskId } = await runTask(url(), 'throws');
    const { out } = await tasks('show', taskId);
    expect(out).toMatch(/error +.*\(\w*Error\)/);
    expect(out).toMatch(/attempt failed +round 1 +\w*Error/);
  });
});
