import { setTimeout as sleep } from 'node:timers/promises';
import { ListExecutionsCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { expect, it } from 'vitest';
import { temporaryDir } from '../fixture.ts';
import { gate, gauge, machineArn, serve, task, until } from './support.ts';

const express = (fields: object = {}, more: object = {}) => ({ ...task(fields, more), type: 'EXPRESS' as const });
const named = (name: string) => expect.objectContaining({ name });
const start = { stateMachineArn: machineArn(), name: 'a', input: '{}' };

it('runs each start, also of a name that is taken, and announces no end', async () => {
  const { seen, enter } = gauge();
  const local = await serve(express(), { task: async () => enter() });
  const arns = [await local.start({}, 'a'), await local.start({}, 'a')];
  await until(() => seen.calls === 2);
  for (const arn of arns) {
    expect(arn).toMatch(/^arn:aws:states:eu-west-1:123456789012:express:m:a:[0-9a-f-]{36}$/);
    await local.engine.closed(arn);
  }
  expect(local.engine.executions()).toMatchObject([
    { name: 'a', status: 'SUCCEEDED' },
    { name: 'a', status: 'SUCCEEDED' },
  ]);
  expect(local.changes).toEqual([]);
});

it('can be neither described, stopped nor listed, and has no history', async () => {
  const hold = gate();
  const local = await serve(express(), { task: () => hold.promise });
  const arn = await local.start({}, 'a');
  const byName = arn.replace(':express:', ':execution:').replace(/:[^:]+$/, '');
  for (const ask of [local.describe, local.stop, local.events]) {
    await expect(ask(arn)).rejects.toThrow(named('InvalidArn'));
    await expect(ask(byName)).rejects.toThrow(named('ExecutionDoesNotExist'));
  }
  const list = new ListExecutionsCommand({ stateMachineArn: machineArn() });
  await expect(local.client.send(list)).rejects.toThrow(named('StateMachineTypeNotSupported'));
  hold.resolve({});
});

it('ends after five minutes, whatever its definition says', async () => {
  for (const more of [{}, { TimeoutSeconds: 99_999_999 }]) {
    const local = await serve(express({}, more), { task: () => new Promise(() => {}), timeScale: 1_000 });
    await local.engine.closed(await local.start());
    expect(local.engine.executions()).toMatchObject([{ status: 'TIMED_OUT' }]);
  }
  const local = await serve(express({}, { TimeoutSeconds: 1 }), { task: () => new Promise(() => {}) });
  await local.engine.closed(await local.start());
  expect(local.engine.executions()).toMatchObject([{ status: 'TIMED_OUT' }]);
});

it.each(['sync', 'waitForTaskToken'])('knows no integration that waits for its work: .%s', async (pattern) => {
  const Resource = `arn:aws:states:::states:startExecution.${pattern}`;
  const integrations = { [Resource]: async () => ({}) };
  await expect(serve(express({ Resource }), { integrations })).rejects.toThrow(Resource);
  await serve(task({ Resource }), { integrations });
});

it('is lost with the process: the next one knows nothing of it', async () => {
  const journal = `${temporaryDir()}/journal`;
  const before = await serve(express(), { journal, task: () => new Promise(() => {}) });
  await before.client.send(new StartExecutionCommand(start));
  await before.engine.stop();
  const after = await serve(express(), { journal });
  expect(after.engine.executions()).toEqual([]);
  expect(await after.start({}, 'a')).toContain(':express:m:a:');
});

it.each([
  ['once', 1, ['SUCCEEDED']],
  ['twice', 2, ['SUCCEEDED', 'SUCCEEDED']],
  [{ againAfterMs: 1 }, 2, ['SUCCEEDED', 'SUCCEEDED']],
  [{ againAfterMs: 120 }, 2, ['SUCCEEDED', 'SUCCEEDED']],
  ['lost', 0, ['ABORTED']],
  // Made when the execution begins.
  [
    {
      get lostAfter() {
        return sleep(1);
      },
    },
    1,
    ['ABORTED'],
  ],
] as const)('may run once, twice or get lost: %j', async (fate, calls, statuses) => {
  const { seen, during } = gauge();
  const local = await serve(express(), { task: () => during(40), expressFate: async () => fate });
  await local.start();
  const ended = () => local.engine.executions().filter(({ status }) => status !== 'RUNNING').length === statuses.length;
  await until(ended);
  expect(local.engine.executions().map(({ status }) => status)).toEqual(statuses);
  expect(seen.calls).toBe(calls);
});

it('keeps nothing of old executions: their names are free anyway', async () => {
  const local = await serve(express(), { keepClosed: 2 });
  for (let i = 0; i < 5; i++) await local.engine.closed(await local.start({}, 'a'));
  expect(local.engine.executions()).toHaveLength(2);
});
