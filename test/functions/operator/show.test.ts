import { describe, expect, test } from 'vitest';
import { type Story, show } from '../../../functions/operator/show.ts';
import { ResultStoreError } from '../../../functions/tasks/results/result-store.ts';
import { moved } from '../../../functions/tasks/s3/moved-input.ts';
import { MACHINES } from '../../support/engine/executions.ts';
import { arnOf, asking, denied, EXPRESS_TOOL, KEY, MINUTE, operatorOn, T0, task } from './operators.ts';

const shown = async (server: ReturnType<typeof operatorOn>, payload = false) =>
  (await show(KEY, payload, server.context)) as Story;

describe('what is shown of a task', () => {
  test('its times, what happened, its runs, and where to read more', async () => {
    const server = operatorOn([task()]);
    server.executions.put(arnOf(), { startDate: T0 + 5 });
    const { tool, owner, createdAt, updatedAt, deadlineAt, ttl } = task();
    expect(await shown(server)).toEqual({
      ...{ taskId: KEY.taskId, owner, tool, status: 'working', round: 1, createdAt, updatedAt, deadlineAt },
      ...{ endsBy: deadlineAt + 30_000, readableUntil: createdAt + ttl },
      happened: [
        { at: T0, what: 'created' },
        { at: T0 + 5, what: 'run started', round: 1 },
      ],
      runs: [
        { ...{ round: 1, executionArn: arnOf(), status: 'RUNNING', startedAt: T0 + 5 }, failures: [], attempts: [] },
      ],
      links: {
        execution: `https://eu-west-1.console.aws.amazon.com/states/home?region=eu-west-1#/v2/executions/details/${arnOf()}`,
        logs: `mcp-task-server tasks logs ${KEY.taskId}`,
      },
    });
  });

  test('of one that has ended its error, its rerun, and no end that is still to come', async () => {
    const error = { code: -32603, message: 'm', data: { reason: 'TypeError' } };
    const record = task({ status: 'failed', error: JSON.stringify(error), isError: false, rerunOf: 'first' });
    const story = await shown(operatorOn([record]));
    expect(story).toMatchObject({
      error: { code: -32603, message: 'm', reason: 'TypeError' },
      isError: false,
      rerunOf: 'first',
    });
    expect(story).not.toHaveProperty('endsBy');
    expect(story).not.toHaveProperty('seenAs');
    expect(story.links).not.toHaveProperty('execution');
  });

  test('how readers see it, where that is another status', async () => {
    const server = operatorOn([task()]);
    server.clock.now = task().deadlineAt + 30_001;
    expect(await shown(server)).toMatchObject({
      status: 'working',
      seenAs: 'failed',
      error: { message: expect.any(String) },
    });
    server.clock.now = T0 + task().ttl;
    expect(await shown(server)).toMatchObject({ seenAs: 'gone' });
  });

  test('the runs of its last five rounds, and no run of a tool on Express', async () => {
    const server = operatorOn([task({ round: 7 })]);
    expect((await shown(server)).runs.map(({ round }) => round)).toEqual([3, 4, 5, 6, 7]);
    expect((await shown(operatorOn([task({ round: 2 })]))).runs.map(({ round }) => round)).toEqual([1, 2]);
    const express = operatorOn([task({ engine: 'express' })], EXPRESS_TOOL);
    const story = await shown(express);
    expect(story.runs).toEqual([]);
    expect(story.links.runLogs).toBe('/aws/vendedlogs/states/S-express');
    expect((await shown(operatorOn([task()], EXPRESS_TOOL))).links).not.toHaveProperty('runLogs');
    expect((await shown(operatorOn([task()]))).links).not.toHaveProperty('runLogs');
  });

  test.each([
    ['aws-cn', 'cn-north-1', '111122223333', 'https://cn-north-1.console.amazonaws.cn/'],
    ['aws-iso', 'us-iso-east-1', '111122223333', undefined],
    ['aws', 'eu-west-1', '000000000000', undefined],
  ])('a console of its partition (%s), if there is one; none of the embedded cloud', async (...place) => {
    const [partition, region, account, link] = place;
    const machineArnPrefix = `arn:${partition}:states:${region}:${account}:stateMachine:S-`;
    const arn = `${machineArnPrefix.replace(':stateMachine:', ':execution:')}standard:${KEY.taskId}-r1`;
    const { context, ...server } = operatorOn([task()]);
    const { executions } = server;
    executions.put(arn);
    const local = { ...context, server: { ...context.server, region, machineArnPrefix } };
    const { links, runs } = await shown({ ...server, context: local });
    expect(runs).toMatchObject([{ status: 'RUNNING' }]);
    expect(links.execution?.startsWith(link ?? '?')).toBe(link === undefined ? undefined : true);
  });

  test('what its run reported last in this round, as long as it works', async () => {
    const reported = { round: 1, updatedAt: T0 + 9, progress: 3, progressTotal: 12, statusMessage: 'x'.repeat(2_000) };
    const asked: boolean[] = [];
    const progressIn = async (record = task(), report: object = reported, payload = true) => {
      const { context, ...server } = operatorOn([record]);
      const progress = async (_key: unknown, wanted: boolean) => {
        asked.push(wanted);
        return report as never;
      };
      return (await shown({ ...server, context: { ...context, reads: { ...context.reads, progress } } }, payload))
        .progress;
    };
    const most = await progressIn();
    expect(most).toMatchObject({ at: T0 + 9, done: 3, of: 12 });
    expect(most?.message?.length).toBeLessThan(2_000);
    expect(await progressIn(task(), { ...reported, progress: 'x', progressTotal: 'x', statusMessage: 7 })).toEqual({
      at: T0 + 9,
    });
    const statusMessage = `Works\nPreview: mcp-task-file:${'A'.repeat(22)}.${'B'.repeat(43)}/first.png`;
    expect((await progressIn(task(), { ...reported, statusMessage }))?.message).toBe('Works\nPreview: first.png');
    expect(await progressIn(task(), { ...reported, round: 2 })).toBeUndefined();
    await progressIn(task(), reported, false);
    expect(asked).toEqual([true, true, true, true, false]);
    expect(await progressIn(asking())).toBeUndefined();
    expect(asked).toHaveLength(5);
    // A task goes on after waits: what its earlier rounds reported since its last question counts.
    const waits = '{"night":{"kind":"time","until":1}}';
    const later = task({ status: 'waiting', waits, round: 3, reportsFrom: 2 });
    expect(await progressIn(later, { ...reported, round: 2 })).toMatchObject({ done: 3 });
    expect(await progressIn(later)).toBeUndefined();
    expect(await progressIn(task({ round: 2 }))).toBeUndefined();
  });

  test('a record of another release with its attributes alone', async () => {
    const record = { ...task(), version: 99 };
    expect(await show(KEY, false, operatorOn([record]).context)).toMatchObject({
      ...{ taskId: KEY.taskId, unreadable: true, stored: { version: 99 } },
    });
  });

  test.each([
    [false, `Task ${KEY.taskId}: your credentials may not read it. The read policy`],
    [true, `The payload of task ${KEY.taskId}: your credentials may not read it. The payload policy`],
  ])('nothing without the right to it, and the policy is named: payload %s', async (payload, message) => {
    const { context } = operatorOn([task()]);
    const reading = (error: Error) => ({
      ...context,
      reads: { ...context.reads, get: async () => Promise.reject(error) },
    });
    await expect(show(KEY, payload, reading(denied()))).rejects.toThrow(message);
    await expect(show(KEY, payload, reading(new TypeError('down')))).rejects.toThrow(new TypeError('down'));
  });
});

describe('the states of a tool that is a state machine', () => {
  const stateMachineArn = `${MACHINES}own`;
  const own = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${KEY.taskId}-r1`;
  const entered = {
    id: 1,
    previousEventId: 0,
    type: 'TaskStateEntered',
    timestamp: new Date(T0),
    stateEnteredEventDetails: { name: 'Charge' },
  };
  /** @param secret whether the credentials may not ask for the workflow */
  const visitsOf = async (put: boolean, failing?: Error, secret = false) => {
    const server = operatorOn([task()], { stateMachineArn });
    if (put) server.executions.put(arnOf());
    server.histories[own] = [entered];
    const { send } = server.context.states;
    const states = {
      send(command: { input: { executionArn?: string } }) {
        const refused = command.input.executionArn === own ? failing : secret && denied();
        return refused ? Promise.reject(refused) : send(command as never);
      },
    } as never;
    return (await shown({ ...server, context: { ...server.context, states } })).runs[0]?.visits;
  };

  test('are shown with its run', async () => {
    expect(await visitsOf(true)).toMatchObject([{ name: 'Charge', from: T0 }]);
  });

  test('are not asked for without a run, and not shown without the right or the execution', async () => {
    expect(await visitsOf(false, new TypeError('down'))).toBeUndefined();
    expect(await visitsOf(true, new TypeError('down'), true)).toBeUndefined();
    expect(await visitsOf(true, denied())).toBeUndefined();
    expect(await visitsOf(true, Object.assign(new Error(), { name: 'ExecutionDoesNotExist' }))).toBeUndefined();
    await expect(visitsOf(true, new TypeError('down'))).rejects.toThrow('down');
  });
});

describe('the payload of a task', () => {
  const payloadOf = async (server: ReturnType<typeof operatorOn>) => (await shown(server, true)).payload;

  test('is what it was called with, asks, was answered and returned', async () => {
    const record = asking(['a', 'b'], { inputResponses: { 'r1.a': '{"action":"decline"}' } });
    expect(await payloadOf(operatorOn([record]))).toEqual({
      arguments: { n: 1 },
      questions: { 'r1.b': expect.objectContaining({ method: 'elicitation/create' }) },
      answers: { a: { action: 'decline' } },
    });
    const done = (result: string) => payloadOf(operatorOn([task({ status: 'completed', result })]));
    expect(await done('{"n":2}')).toEqual({ result: { n: 2 } });
    expect(await done('not JSON')).toEqual({ result: 'not JSON' });
    expect(await done('null')).toEqual({ result: null });
  });

  test('has the arguments that the tool keeps, or that its first run got, in round 1 or 2', async () => {
    expect(await payloadOf(operatorOn([task({ kept: '{"k":1}' })]))).toEqual({ arguments: { k: 1 } });
    for (const round of [1, 2]) {
      const server = operatorOn([task()]);
      server.executions.put(arnOf(round), { input: JSON.stringify({ arguments: '{"n":3}' }) });
      expect(await payloadOf(server)).toEqual({ arguments: { n: 3 } });
    }
    for (const [input, startDate] of [
      ['{"arguments":{}}', T0],
      ['{"arguments":7}', T0],
      ['[]', T0],
      ['{"arguments":"1"}', T0 - 2 * MINUTE],
    ] as const) {
      const server = operatorOn([task()]);
      server.executions.put(arnOf(), { input, startDate });
      expect(await payloadOf(server)).toEqual({});
    }
  });

  test('reads input and results that lie in S3', async () => {
    const { record, text } = moved(asking());
    const server = operatorOn([record]);
    await server.context.inputs.put(record, text);
    expect(await payloadOf(server)).toMatchObject({ arguments: { n: 1 }, questions: { 'r1.a': {} } });
  });

  test('has what its failed attempts threw', async () => {
    const server = operatorOn([task()]);
    server.executions.put(arnOf());
    const cause = JSON.stringify({ errorType: 'E', errorMessage: 'no seats' });
    server.histories[arnOf()] = [
      { type: 'TaskFailed', timestamp: new Date(T0), taskFailedEventDetails: { error: 'E', cause } },
    ];
    expect(await payloadOf(server)).toMatchObject({ errors: [{ error: 'E', message: 'no seats' }] });
    expect(await shown(server)).not.toHaveProperty('payload');
  });

  test('is shown of a task whose tool is gone, too', async () => {
    expect(await payloadOf(operatorOn([task({ kept: '{"k":1}' })], null))).toEqual({ arguments: { k: 1 } });
  });

  test('is refused without the right to it, and any other failure is thrown', async () => {
    const message = `The payload of task ${KEY.taskId}: your credentials may not read it`;
    const failing = (error: Error) =>
      operatorOn([task()], {}, { inputs: { put: async () => {}, whole: async () => Promise.reject(error) } });
    await expect(payloadOf(failing(denied()))).rejects.toThrow(message);
    await expect(payloadOf(failing(new ResultStoreError('read', 'AccessDenied')))).rejects.toThrow(message);
    await expect(payloadOf(failing(new ResultStoreError('read', 'SlowDown')))).rejects.toThrow(ResultStoreError);
    const states = { send: async () => Promise.reject(new TypeError('down')) } as never;
    await expect(payloadOf(operatorOn([task()], {}, { states }))).rejects.toThrow('down');
  });
});
