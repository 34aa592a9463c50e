import { describe, expect, test } from 'vitest';
import { ended, legacySession, poll, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { actsOn, audited } from './acting.ts';

const cloud = useCloud();
const { url, tasks, started, asking, seen, runOf } = actsOn(cloud);
const why = ['--reason', 'INC-7'];
/** More than the attempts of the AWS client. */
const ALL = 10;

/** The answers to so many calls of the operator are lost. */
async function losing<T>(operation: string, times: number, act: () => Promise<T>): Promise<T> {
  const service = 'dynamodb' as const;
  const fault = cloud().faults.add({ service, operation, caller: 'administrator', at: 'after', do: 'drop', times });
  try {
    return await act();
  } finally {
    fault.remove();
  }
}

describe('an act whose first answer is lost is done, once', () => {
  test.each(['cancel', 'fail'] as const)('%s: it says so, and its run is stopped', async (verb) => {
    const taskId = await started('sleep', { ms: 20_000 });
    await expect.poll(() => runOf(taskId)?.status).toBe('RUNNING');
    const act = await losing('UpdateItem', 1, () => tasks(verb, taskId, ...why));
    expect(act).toMatchObject({ code: 0, out: expect.stringContaining('Its run is stopped') });
    expect(audited(act)).toEqual([expect.objectContaining({ done: true })]);
    await expect.poll(() => runOf(taskId)?.status).toBe('ABORTED');
  });

  test('the last answer to a task: the next round runs', async () => {
    const taskId = await asking();
    const act = await losing('UpdateItem', 1, () => tasks('answer', taskId, 'ok=true', ...why));
    expect(act).toMatchObject({ code: 0, out: 'Answered. Round 2 runs\n' });
    expect(audited(act)).toEqual([expect.objectContaining({ done: true })]);
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  });

  test('one of two answers: the other question is still open', async () => {
    const taskId = await asking('ask_two');
    const act = await losing('UpdateItem', 1, () => tasks('answer', taskId, 'first.ok=true', ...why));
    expect(act).toMatchObject({ code: 0, out: expect.stringContaining('Still open: r1.second') });
    expect((await tasks('answer', taskId, 'second.ok=true', ...why)).code).toBe(0);
    expect(await poll(url(), taskId, ended)).toMatchObject({ status: 'completed' });
  });
});

describe('if every answer is lost, operator and audit learn that nobody knows what was done', () => {
  const unknown = { code: 1, out: expect.stringContaining('It is not known whether this was done (') };
  const line = expect.objectContaining({ done: false, outcome: expect.stringContaining('It is not known') });

  test.each(['cancel', 'fail', 'answer'] as const)('%s', async (verb) => {
    const taskId = await asking();
    const pairs = verb === 'answer' ? ['ok=true'] : [];
    const act = await losing('UpdateItem', ALL, () => tasks(verb, taskId, ...pairs, ...why));
    expect(act).toMatchObject({ ...unknown, out: expect.stringContaining(`tasks show ${taskId}`) });
    expect(audited(act)).toEqual([line]);
    expect((await seen(taskId)).status).not.toBe('input_required');
  });

  test('rerun, which names the task that may be there', async () => {
    const { taskId } = await runTask(url(), 'returns', { json: '1' });
    const act = await losing('PutItem', ALL, () => tasks('rerun', taskId, ...why));
    expect(act).toMatchObject(unknown);
    expect(audited(act)).toEqual([line]);
    const made = /tasks show (\w+)/.exec(act.out)?.[1] ?? '';
    expect((await tasks('show', made, '--json')).json()).toMatchObject({ rerunOf: taskId });
  });

  test('an act that fails as it reads has changed nothing, and says only that', async () => {
    const taskId = await asking();
    const act = await losing('Query', ALL, () => tasks('cancel', taskId, ...why));
    expect(act).toMatchObject({ code: 1, out: '' });
    expect(audited({ err: act.err.replace(/^[^{].*$/gm, '') })).toEqual([]);
    expect(await seen(taskId)).toMatchObject({ status: 'input_required' });
  });
});

test('a tool that asks before it runs is not run again without its answers', async () => {
  const { request } = await legacySession(url());
  const { body } = await request('tools/call', { name: 'ask_first', arguments: {}, task: {} });
  const { taskId } = body.result.task;
  await tasks('cancel', taskId, ...why);
  for (const force of [[], ['--force']]) {
    const again = await tasks('rerun', taskId, ...force, ...why);
    expect(again.code).toBe(1);
    expect(again.out).toMatch(force.length === 0 ? /may have had effects|asks before it runs/ : /asks before it runs/);
  }
});
