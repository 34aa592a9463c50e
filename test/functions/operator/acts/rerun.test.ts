import { describe, expect, test } from 'vitest';
import { rerunTask } from '../../../../functions/operator/acts/rerun.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import {
  ann,
  arnOf,
  asking,
  denied,
  EXPRESS_TOOL,
  failing,
  KEY,
  MINUTE,
  operatorOn,
  repeating,
  T0,
  task,
} from '../operators.ts';
import { completed, made, neverStarted, rerun } from './reruns.ts';

describe('a rerun', () => {
  test('makes a task of the same owner, with the same arguments, and says whose it is', async () => {
    const server = operatorOn([neverStarted({ legacy: true, accepts: ['roots/list'], ttl: 99 * MINUTE })], {
      ...{ timeout: 5 * MINUTE, outputSchemaId: 's', scopes: ['a'] },
    });
    const outcome = await rerun(server);
    const record = made(server);
    expect(outcome).toEqual({
      ...{ taskId: KEY.taskId, done: true, newTaskId: record?.taskId },
      message: `Runs again as ${record?.taskId}`,
    });
    expect(record).toMatchObject({
      ...{
        owner: KEY.owner,
        tool: 'tool',
        status: 'working',
        rerunOf: KEY.taskId,
        legacy: true,
        accepts: ['roots/list'],
      },
      ...{ ttl: 99 * MINUTE, deadlineAt: T0 + 6 * MINUTE, outputSchemaId: 's', scopes: ['a'] },
      events: [{ at: T0 + MINUTE, what: 'created', by: 'operator', ...ann }],
    });
    expect(server.did).toEqual(['create', 'start']);
    expect(JSON.parse(server.executions.all()[0]?.input ?? '')).toMatchObject({ arguments: '{"n":1}', round: 1 });
    expect(server.audited).toMatchObject([{ act: 'rerun', ...ann, done: true, outcome: record?.taskId }]);
  });

  test('takes the caller, the arguments of the first run, and answers that were given before it', async () => {
    const first = completed({ kept: undefined as never, caller: '{"subject":"ann"}' });
    const server = operatorOn([first], { asksFirst: true });
    const input = { arguments: '{"n":2}', inputResponses: { confirm: { action: 'accept' } } };
    server.executions.put(arnOf(), { input: JSON.stringify(input), status: 'SUCCEEDED' });
    await rerun(server, true);
    expect(made(server)?.caller).toBe('{"subject":"ann"}');
    expect(made(server)?.inputResponses).toEqual({ 'r0.confirm': '{"action":"accept"}' });
    const [, started] = server.executions.all();
    expect(JSON.parse(started?.input ?? '')).toMatchObject({ ...input, caller: { subject: 'ann' } });
  });

  test('is refused while the task is open, also with --force', async () => {
    for (const record of [task({ kept: '{}' }), asking()]) {
      const server = operatorOn([record]);
      const message = 'Not run again: it is still open. Cancel it first';
      expect(await rerun(server, true)).toMatchObject({ done: false, message });
      expect(server.records.all()).toHaveLength(1);
    }
  });

  test('of a task past its deadline, or past its ttl, is no rerun of an open one', async () => {
    for (const now of [task().deadlineAt + limits.deadlineGrace + 1, T0 + task().ttl]) {
      const server = operatorOn([task({ kept: '{}' })], { repeatable: true });
      server.clock.now = now;
      expect(await rerun(server)).toMatchObject({ done: true });
    }
  });

  test('of a tool that asks before it runs is refused without the answers to that', async () => {
    const message = "Not run again: 'tool' asks before it runs, and the answers that this task got are not known";
    const server = operatorOn([completed()], { asksFirst: true });
    expect(await rerun(server, true)).toMatchObject({ done: false, message });
    const input = { arguments: '{}', inputResponses: { confirm: { action: 'accept' } } };
    server.executions.put(arnOf(), { input: JSON.stringify(input), status: 'SUCCEEDED' });
    expect(await rerun(server, true)).toMatchObject({ done: true });
  });

  test('asks again what its run asked: answers are taken of a tool that asks before it runs', async () => {
    const input = { arguments: '{}', inputResponses: { confirm: { action: 'accept' } } };
    const given = JSON.stringify(input.inputResponses.confirm);
    // The first run of the others was on another engine, or Step Functions has forgotten it.
    for (const [legacy, asksFirst, round, answers] of [
      [true, true, 2, { 'r0.confirm': given }],
      [false, true, 1, { 'r0.confirm': given }],
      [true, false, 2, {}],
      [false, false, 2, {}],
      [false, true, 2, undefined],
    ] as const) {
      const server = operatorOn([completed({ legacy, round })], { asksFirst });
      server.executions.put(arnOf(round), { input: JSON.stringify(input), status: 'SUCCEEDED' });
      await rerun(server, true);
      expect(made(server)?.inputResponses).toEqual(answers);
    }
  });

  test('is refused without arguments, and without the tool', async () => {
    const message = expect.stringContaining('its arguments are not known any more. Set keepArguments');
    expect(await rerun(operatorOn([completed({ kept: undefined as never })]), true)).toMatchObject({ message });
    const gone = "Not run again: this server has no tool 'tool' that runs as a task";
    expect(await rerun(operatorOn([completed()], null), true)).toMatchObject({ done: false, message: gone });
  });

  test('of a tool on Express asks Step Functions nothing, and makes a task on Express', async () => {
    const states = { send: async () => expect.unreachable() } as never;
    const server = operatorOn([neverStarted({ engine: 'express' })], EXPRESS_TOOL, { states });
    expect(await rerun(server)).toMatchObject({ done: true });
    expect(made(server)).toMatchObject({ engine: 'express', arguments: '{"n":1}' });
  });

  test('of arguments that are too large for Step Functions makes no task', async () => {
    const server = operatorOn([completed({ kept: JSON.stringify('\\'.repeat(100_000)) })]);
    await expect(rerun(server, true)).rejects.toThrow('Its arguments are too large to start with');
    expect(server.records.all()).toHaveLength(1);
  });

  test('stores large arguments in S3 before its record', async () => {
    const kept = JSON.stringify('x'.repeat(limits.inlineInput));
    const server = operatorOn([completed({ kept, accepts: ['roots/list'] })]);
    await rerun(server, true);
    expect(server.objects.did).toEqual(['PUT']);
    expect(await server.context.inputs.whole(made(server) as TaskRecord)).toMatchObject({ arguments: kept });
  });
});

describe('a second rerun of one task', () => {
  test('is refused, and names the first one, its operator and its status', async () => {
    const server = operatorOn([neverStarted()]);
    const { newTaskId } = await rerun(server);
    server.clock.now++;
    const again = await rerunTask(KEY, false, { who: 'ben', reason: 'INC-8' }, server.context);
    expect(again).toMatchObject({
      done: false,
      message: `Not run again: it was run again before by ann (“INC-7”), as ${newTaskId}, which is working. Act on that task, or use --force`,
    });
    expect(server.executions.all()).toHaveLength(1);
  });

  test('is refused without a reason, where the first one gave none', async () => {
    const server = operatorOn([neverStarted()]);
    await rerunTask(KEY, false, { who: 'ben', reason: '' }, server.context);
    expect((await rerun(server)).message).toContain('it was run again before by ben, as ');
  });

  test.each([
    ['by another person', { who: 'ben', reason: 'INC-7' }, 0],
    ['for another reason', { who: 'ann', reason: 'INC-8' }, 0],
    ['at another time', ann, 1],
  ])('%s in the same moment is not taken for the first one', async (_how, operator, later) => {
    const server = operatorOn([neverStarted()]);
    await rerun(server);
    server.clock.now += later;
    const message = expect.stringContaining('it was run again before by ann');
    expect(await rerunTask(KEY, false, operator, server.context)).toMatchObject({ done: false, message });
    expect(made(server)?.status).toBe('working');
  });

  test('that the AWS client has sent twice, as the first answer was lost, starts its run', async () => {
    const server = operatorOn([neverStarted()]);
    expect(await rerunTask(KEY, false, ann, repeating(server))).toMatchObject({ done: true });
    expect(server.executions.all()).toHaveLength(1);
  });

  test('that gets no answer names the task that may be there', async () => {
    const server = operatorOn([neverStarted()]);
    const { message, done } = await rerunTask(KEY, false, ann, failing(server, new TypeError()));
    const id = /^It is not known whether this was done \(TypeError\): see mcp-task-server tasks show (\w+)$/.exec(
      message,
    )?.[1];
    expect([done, id]).toEqual([false, (await rerun(server)).newTaskId]);
  });

  test('with --force makes one more task', async () => {
    const server = operatorOn([neverStarted()]);
    const [first, second] = [await rerun(server), await rerun(server, true)];
    expect(second).toMatchObject({ done: true });
    expect(second.newTaskId).not.toBe(first.newTaskId);
  });
});

describe('a start of a rerun', () => {
  const starting = (start: () => Promise<never>, express = false) => {
    const server = operatorOn([neverStarted()], express ? EXPRESS_TOOL : {});
    const { context } = server;
    return { ...server, context: { ...context, workflow: { ...context.workflow, start } } };
  };
  const lost = () => Promise.reject(Object.assign(new Error(), { name: 'TimeoutError' }));

  test('whose answer is lost fails the new task, and stops its run', async () => {
    const server = starting(lost);
    const { workflow } = operatorOn().context;
    const stopped: string[] = [];
    server.context.workflow.stop = async (record) => void stopped.push(record.taskId);
    const outcome = await rerun(server);
    const id = made(server)?.taskId;
    expect(workflow).toBeDefined();
    expect(outcome).toMatchObject({
      done: false,
      message: `Not run again: the new task ${id} could not be started (TimeoutError). It is failed, and its run, if it began, is stopped. See what it did: mcp-task-server tasks show ${id}`,
    });
    expect(outcome).not.toHaveProperty('newTaskId');
    expect(made(server)).toMatchObject({ status: 'failed', failure: 'NotStarted' });
    expect(stopped).toEqual([id]);
  });

  test('whose answer is lost on Express fails the new task: its run can change nothing', async () => {
    const server = starting(lost, true);
    expect(await rerun(server)).toMatchObject({
      done: false,
      message: expect.stringContaining('It is failed, and its run, if it began, can change nothing'),
    });
    expect(made(server)).toMatchObject({ status: 'failed', failure: 'NotStarted' });
  });

  test('of a task that the client cancels meanwhile is stopped, and nothing runs again', async () => {
    const server = operatorOn([neverStarted()]);
    const { start } = server.context.workflow;
    server.context.workflow.start = async (record, ...given) => {
      const outcome = await start(record, ...given);
      server.records.set({ ...record, status: 'cancelled' });
      return outcome;
    };
    const id = () => made(server)?.taskId;
    expect(await rerun(server)).toMatchObject({
      done: false,
      message: `Not run again: the new task ${id()} was cancelled before its run began. The run is stopped. See what it did: mcp-task-server tasks show ${id()}`,
    });
    expect(server.executions.all()[0]?.status).toBe('ABORTED');
  });

  test('whose name another run has fails the new task', async () => {
    const server = starting((async () => 'taken') as never);
    expect(await rerun(server)).toMatchObject({
      done: false,
      message: expect.stringContaining('(another run has its name). It is failed'),
    });
    expect(made(server)).toMatchObject({ status: 'failed', failure: 'NotStarted' });
  });

  test('that is not allowed throws, and names the policy', async () => {
    const server = starting(() => Promise.reject(denied()));
    await expect(rerun(server)).rejects.toThrow(
      'Not run again: your credentials may not start its workflow. The payload policy of the server allows it',
    );
  });

  test.each([
    ['create a task', 'store', 'create'],
    ['read its arguments', 'inputs', 'whole'],
  ] as const)('without the right to %s makes no task, and names it', async (what, port, method) => {
    const server = operatorOn([neverStarted()]);
    const refused = { ...server.context[port], [method]: async () => Promise.reject(denied()) };
    const context = { ...server.context, [port]: refused };
    await expect(rerunTask(KEY, false, ann, context)).rejects.toThrow(
      `Not run again: your credentials may not ${what}`,
    );
    expect(server.records.all()).toHaveLength(1);
  });
});
