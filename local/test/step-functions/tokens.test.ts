import { SendTaskFailureCommand, SendTaskHeartbeatCommand, SendTaskSuccessCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { createStepFunctions, DefinitionError, type Integration, StatesError } from '../../step-functions/index.ts';
import type { StepFunctionsOptions } from '../../step-functions/types.ts';
import { gate, type Local, RESOURCE, serve, task } from './support.ts';

const WAITING = `${RESOURCE}.waitForTaskToken`;
const TOKEN = '{% $states.context.Task.Token %}';
const waiting = (fields: object = {}) => task({ Resource: WAITING, Arguments: { token: TOKEN }, ...fields });
const named = (name: string) => expect.objectContaining({ name });

/** Serves a machine whose task waits, and gives the tokens of its attempts in order. */
async function served(
  fields: object = {},
  call: (token: string) => unknown = () => ({}),
  options: Partial<StepFunctionsOptions> = {},
) {
  const tokens: string[] = [];
  const first = gate<string>();
  const integration: Integration = async (made) => {
    const { token } = made.arguments as { token: string };
    tokens.push(token);
    first.resolve(token);
    return call(token);
  };
  const integrations = { [RESOURCE]: integration, [WAITING]: integration };
  const local = await serve(waiting(fields), { integrations, ...options });
  return { ...local, tokens, first: first.promise };
}
const succeed = (local: Local, taskToken: string, output = '{"ok":true}') =>
  local.client.send(new SendTaskSuccessCommand({ taskToken, output }));
const fail = (local: Local, taskToken: string, error?: string, cause?: string) =>
  local.client.send(new SendTaskFailureCommand({ taskToken, ...(error && { error }), ...(cause && { cause }) }));
const beat = (local: Local, taskToken: string) => local.client.send(new SendTaskHeartbeatCommand({ taskToken }));

describe('a task that waits for its token', () => {
  it('ends with the output that a client sends, after the call has ended', async () => {
    const local = await served();
    const arn = await local.start();
    await expect.poll(() => local.events(arn)).toContain('TaskSubmitted');
    expect((await local.describe(arn)).status).toBe('RUNNING');
    await succeed(local, await local.first, '[1,"two"]');
    expect(await local.ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: '[1,"two"]' });
    expect(await local.events(arn)).toEqual([
      ...['ExecutionStarted', 'TaskStateEntered', 'TaskScheduled', 'TaskSubmitted', 'TaskSucceeded'],
      ...['TaskStateExited', 'ExecutionSucceeded'],
    ]);
  });

  it('may be answered before its call ends: the result of the call is dropped', async () => {
    const late = gate();
    const local = await served({}, () => late.promise);
    const arn = await local.start();
    await succeed(local, await local.first);
    expect(await local.ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: '{"ok":true}' });
    late.reject(new Error('too late'));
  });

  it('fails with the error of its call, and a token of it is then worth nothing', async () => {
    const local = await served({}, () => Promise.reject(new StatesError('Oops', 'no')));
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'Oops', cause: 'no' });
    await expect(succeed(local, await local.first)).rejects.toMatchObject({
      name: 'TaskTimedOut',
      message: "Task Timed Out: 'Provided task does not exist anymore'",
    });
  });

  it('fails as a client says, and can be caught and retried with another token', async () => {
    const Retry = [{ ErrorEquals: ['Busy'], MaxAttempts: 1 }];
    const Catch = [{ ErrorEquals: ['Busy'], Next: 'Caught' }];
    const local = await served({ Retry, Catch });
    const arn = await local.start();
    await fail(local, await local.first, 'Busy', 'later');
    await expect.poll(() => local.tokens.length).toBe(2);
    expect(local.tokens[0]).not.toBe(local.tokens[1]);
    await expect(fail(local, local.tokens[0] ?? '')).rejects.toThrow(named('TaskTimedOut'));
    await fail(local, local.tokens[1] ?? '', 'Busy', 'never');
    expect(JSON.parse((await local.ended(arn)).output ?? '')).toEqual({ Error: 'Busy', Cause: 'never' });
  });

  it('takes one answer: the second is TaskTimedOut, as is one after the execution was stopped', async () => {
    const local = await served();
    const arn = await local.start();
    const token = await local.first;
    const sent = await Promise.allSettled([succeed(local, token), succeed(local, token), fail(local, token)]);
    expect(sent.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    await local.ended(arn);
    const other = await local.start();
    await expect.poll(() => local.tokens.length).toBe(2);
    await local.stop(other);
    await expect(beat(local, local.tokens[1] ?? '')).rejects.toThrow(named('TaskTimedOut'));
  });
});

describe('the times of a task that waits', () => {
  const caught = { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }] };

  it('end in States.Timeout, whatever heartbeats come', async () => {
    let time = 1_000_000;
    const fields = { TimeoutSeconds: 7_200, HeartbeatSeconds: 3_600, ...caught };
    const local = await served(fields, undefined, { now: () => time, timeScale: 1 });
    const arn = await local.start();
    const token = await local.first;
    for (const seconds of [3_500, 3_500]) {
      time += seconds * 1000;
      await beat(local, token);
    }
    time += 200_000;
    await expect(beat(local, token)).rejects.toThrow(named('TaskTimedOut'));
    expect(JSON.parse((await local.ended(arn)).output ?? '')).toEqual({ Error: 'States.Timeout', Cause: '' });
    expect(await local.events(arn)).toContain('TaskTimedOut');
  });

  it('end in States.Timeout without an answer', async () => {
    const local = await served({ TimeoutSeconds: 1, ...caught });
    expect(await local.output()).toEqual({ Error: 'States.Timeout', Cause: '' });
  });

  it('end in States.HeartbeatTimeout without a heartbeat, computed or not', async () => {
    for (const HeartbeatSeconds of [1, '{% $states.input.beat %}']) {
      const local = await served({ TimeoutSeconds: 1_000_000, HeartbeatSeconds, ...caught });
      expect(await local.output({ beat: 1 })).toEqual({ Error: 'States.HeartbeatTimeout', Cause: '' });
    }
  });

  it('are measured from the last heartbeat, by the clock of the cloud', async () => {
    let time = 1_000_000;
    const local = await served({ HeartbeatSeconds: 3_600 }, undefined, { now: () => time, timeScale: 1 });
    const arn = await local.start();
    const token = await local.first;
    for (let beats = 0; beats < 3; beats += 1) {
      time += 3_599_000;
      await beat(local, token);
    }
    expect((await local.describe(arn)).status).toBe('RUNNING');
    time += 3_600_000;
    await expect(beat(local, token)).rejects.toThrow(named('TaskTimedOut'));
    expect(await local.ended(arn)).toMatchObject({ status: 'FAILED', error: 'States.HeartbeatTimeout' });
  });

  it('are refused if the heartbeat is not less than the timeout', async () => {
    const local = await served({ TimeoutSeconds: 5, HeartbeatSeconds: 5 });
    expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
    expect(local.tokens).toEqual([]);
  });
});

describe('an answer for a token is refused', () => {
  it.each([
    ['no token', 'x', 'InvalidToken', "Invalid Token: 'Invalid token'"],
    ['bytes that are no token', Buffer.from('arn:aws:x y').toString('base64url'), 'InvalidToken', ''],
    ['a token that is too long', 'x'.repeat(2_049), 'ValidationException', "Value at 'taskToken'"],
    [
      'a token of an execution that does not exist',
      Buffer.from(
        'arn:aws:states:eu-west-1:123456789012:execution:m:none 0b6d1a5e-4a54-4b1f-8d4e-1d1c1b1a1918',
      ).toString('base64url'),
      'TaskDoesNotExist',
      '',
    ],
  ])('that is %s', async (_what, token, name, message) => {
    const local = await served();
    for (const send of [succeed, fail, beat]) {
      await expect(send(local, token)).rejects.toMatchObject({ name, message: expect.stringContaining(message) });
    }
  });

  it('with an output that is no JSON, or texts above the bounds, and the task goes on waiting', async () => {
    const local = await served();
    const arn = await local.start();
    const token = await local.first;
    await expect(succeed(local, token, '{')).rejects.toThrow(named('InvalidOutput'));
    await expect(succeed(local, token, `"${'x'.repeat(262_143)}"`)).rejects.toThrow(named('ValidationException'));
    await expect(fail(local, token, 'x'.repeat(257))).rejects.toThrow(named('ValidationException'));
    await expect(fail(local, token, 'E', 'x'.repeat(32_769))).rejects.toThrow(named('ValidationException'));
    await succeed(local, token, `"${'x'.repeat(262_142)}"`);
    expect((await local.ended(arn)).status).toBe('SUCCEEDED');
  });
});

it('only a task that waits has a token and HeartbeatSeconds', async () => {
  const local = await serve(task({ Arguments: TOKEN }));
  expect(await local.run()).toMatchObject({ status: 'FAILED', error: 'States.QueryEvaluationError' });
  const plain = task({ HeartbeatSeconds: 1 });
  expect(() => createStepFunctions([plain], { integrations: { [RESOURCE]: async () => ({}) } })).toThrow(
    DefinitionError,
  );
});
