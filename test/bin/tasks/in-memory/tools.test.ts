import { describe, expect, test } from 'vitest';
import { logged, shown } from '../../../../bin/tasks/mcp/report.ts';
import { type Input, toolsFor } from '../../../../bin/tasks/mcp/tools.ts';
import { ann, arnOf, asking, KEY, MINUTE, operatorOn, T0, task } from '../../../functions/operator/operators.ts';

const ALL = { writes: true, payload: true };
const ID = { taskId: KEY.taskId, owner: KEY.owner };
const call = (server: ReturnType<typeof operatorOn>, name: string, input: Input = {}, allowed = ALL) => {
  const tool = toolsFor(allowed).find((one) => one.name === name);
  if (tool === undefined) throw new Error(`There is no tool ${name}`);
  return tool.run(input, server.context);
};
const names = (writes: boolean) => toolsFor({ writes, payload: false }).map(({ name }) => name);
/** A change that is meant is written to the file by `npm test -- test/bin/tasks/in-memory --update`. */
test('the tools, their words and their inputs are as in tools.txt', async () => {
  const described = (allowed: typeof ALL) =>
    toolsFor(allowed).map(({ run: _, ...tool }) => JSON.stringify(tool, undefined, 1).replaceAll(/\n\s*/g, ' '));
  const all = [...described({ writes: true, payload: false }), ...described(ALL)];
  await expect(`${[...new Set(all)].join('\n\n')}\n`).toMatchFileSnapshot('tools.txt');
});

describe('the tools for operators', () => {
  test('change tasks only where writes are allowed', () => {
    const reading = ['list_tasks', 'show_task', 'explain_task', 'task_logs', 'list_subscriptions'];
    expect(names(false)).toEqual(reading);
    expect(names(true)).toEqual([
      ...reading,
      'cancel_task',
      'fail_task',
      'answer_task',
      'rerun_task',
      'end_subscription',
    ]);
    expect(toolsFor(ALL).filter(({ writes }) => writes)).toHaveLength(5);
  });

  test('list by each filter', async () => {
    const old = task({ taskId: '1'.padStart(36, '0'), createdAt: T0 - 60 * MINUTE, tool: 'other', status: 'failed' });
    const server = operatorOn([task(), old]);
    const found = async (input: Input) =>
      ((await call(server, 'list_tasks', input)).data as { tasks: object[] }).tasks.length;
    expect(await call(server, 'list_tasks')).toMatchObject({ text: '1 task.' });
    expect(await call(server, 'list_tasks', { status: 'all' })).toMatchObject({ text: '2 tasks.' });
    expect(await call(server, 'list_tasks', { tool: 'none' })).toMatchObject({ text: 'No task.' });
    const all = { status: 'all' };
    for (const filter of [{ tool: 'other' }, { olderThan: '30m' }, { newerThan: '30m' }, { owner: 'owner#none' }])
      expect([filter, await found({ ...all, ...filter })]).toEqual([filter, 'owner' in filter ? 0 : 1]);
    expect(await found({ ...all, endsWithin: '1s' })).toBe(0);
    await expect(call(server, 'list_tasks', { cursor: 'x' })).rejects.toThrow('--cursor is not one');
  });

  test('say that there are more, with the cursor in the data', async () => {
    const many = Array.from({ length: 51 }, (_, n) => task({ taskId: String(n).padStart(36, '0') }));
    const { text, data } = await call(operatorOn(many), 'list_tasks');
    expect(text).toBe('50 tasks. There are more: give the cursor.');
    expect(data).toHaveProperty('cursor');
  });

  test.each([
    [{ writes: false, payload: true }, true, true],
    [{ writes: false, payload: true }, false, false],
    [{ writes: false, payload: false }, true, false],
  ])('show payload where the server may, and the call asks: %j, %s', async (allowed, payload, there) => {
    const server = operatorOn([task({ kept: '{"secret":1}' })], { logGroup: '/tool' });
    const { text, data } = await call(server, 'show_task', { ...ID, payload }, allowed);
    expect(text).toBe(`Task ${KEY.taskId} is working, in round 1.`);
    expect(JSON.stringify(data).includes('secret')).toBe(there);
    const logs = await call(server, 'task_logs', { ...ID, payload }, allowed);
    expect((logs.data as { hidden: string[] }).hidden).toHaveLength(there ? 0 : 1);
  });

  test('explain in one sentence, with all of it in the data', async () => {
    const { text, data } = await call(operatorOn([asking()]), 'explain_task', ID);
    expect(text).toBe(`Task ${KEY.taskId} is input_required: asks, and gets no answer.`);
    expect(data).toMatchObject({ row: '17' });
  });

  test('act on one task, for the reason that is given, and say if it was not done', async () => {
    const server = operatorOn([task()]);
    server.executions.put(arnOf());
    const act = { ...ID, reason: ann.reason };
    expect(await call(server, 'cancel_task', act)).toMatchObject({
      text: 'Cancelled. Its run is stopped',
      failed: false,
    });
    expect(await call(server, 'fail_task', act)).toMatchObject({ failed: true, data: { done: false } });
    expect(server.audited).toMatchObject([
      { act: 'cancel', ...ann },
      { act: 'fail', ...ann },
    ]);
    const other = operatorOn([task()]);
    await call(other, 'fail_task', act);
    expect(other.records.get(KEY.taskId)?.status).toBe('failed');
    await expect(call(other, 'fail_task', { ...act, owner: 'owner#other' })).rejects.toThrow('No task');
  });

  test('answer with texts as they are, and other values as JSON', async () => {
    const whole = { action: 'accept', content: { ok: true } };
    for (const answers of [{ ok: true }, { ok: 'true' }, { a: whole }]) {
      const server = operatorOn([asking()]);
      expect(await call(server, 'answer_task', { ...ID, reason: 'x', answers })).toMatchObject({
        failed: false,
      });
      expect(server.records.get(KEY.taskId)?.inputResponses?.['r1.a']).toContain('"ok":true');
    }
    await expect(call(operatorOn([asking()]), 'answer_task', { ...ID, reason: 'x' })).rejects.toThrow('No answer');
  });

  test('run again without force only what can be repeated', async () => {
    const server = operatorOn([task({ status: 'completed', kept: '{}' })]);
    for (const [force, failed] of [
      [undefined, true],
      [false, true],
      [true, false],
    ] as const)
      expect(
        await call(server, 'rerun_task', { ...ID, reason: 'x', ...(force !== undefined && { force }) }),
      ).toMatchObject({ failed });
  });
});

test('log lines of an answer are the latest 200', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => ({ at, source: 's', line: 'l' }));
  expect(logged({ lines: lines(200), hidden: ['h'] })).toEqual({
    text: '200 lines.',
    data: { lines: lines(200), hidden: ['h'] },
  });
  const most = logged({ lines: lines(202), hidden: ['h'] });
  expect(most).toEqual({ text: '200 lines.', data: { lines: lines(202).slice(2), hidden: ['h', '2 older lines'] } });
  expect(logged({ lines: lines(1), hidden: [] }).text).toBe('1 line.');
  expect(logged({ lines: [], hidden: [] }).text).toBe('No line.');
});

test('a task that readers see otherwise, or of another release, is named so', () => {
  const story = { taskId: 't', status: 'working', seenAs: 'failed', round: 2 } as never;
  expect(shown(story).text).toBe('Task t is working (readers see: failed), in round 2.');
  const other = { taskId: 't', unreadable: true, stored: { owner: 'o', taskId: 't' } } as const;
  expect(shown(other)).toEqual({ text: 'Task t was stored by another release of the server.', data: other });
});
