import { GetExecutionHistoryCommand, ListExecutionsCommand } from '@aws-sdk/client-sfn';
import { describe, expect, it } from 'vitest';
import { StatesError } from '../../../step-functions/index.ts';
import { executionArn, type Local, machine, machineArn, single, task, until } from '../support.ts';
import { answers, arn, call, hang, later, useJournal } from './journalled.ts';

const { interrupted, open } = useJournal();
const taken = expect.objectContaining({ name: 'ExecutionAlreadyExists' });
const historyOf = async (local: Local) =>
  (await local.client.send(new GetExecutionHistoryCommand({ executionArn: arn }))).events;

describe('a started execution exists', () => {
  it('even when the process ends before the first state: nothing was called, nothing is lost', async () => {
    const before = await open(task());
    const request = { stateMachineArn: machineArn(), name: 'a', input: '{"i":1}' };
    const [answer] = await Promise.all([before.engine.operations.StartExecution?.(request), before.engine.stop()]);
    const { calls, integration } = answers('done');
    const local = await open(task({ Arguments: '{% $states.input %}' }), { task: integration });
    await local.engine.closed(arn);
    const found = await local.describe(arn);
    expect(found).toMatchObject({ status: 'SUCCEEDED', input: '{"i":1}', output: '"done"' });
    expect(answer).toEqual({ executionArn: arn, startDate: Number(found.startDate) / 1000 });
    // It keeps its first definition: the new one has other Arguments.
    expect(calls).toMatchObject([{ lost: false, arguments: {} }]);
  });

  it('and keeps running with its name, input, start time and history, without duplicates', async () => {
    const { calls, integration } = answers('first');
    const States = { S: call({ Next: 'T' }), T: call({ End: true }) };
    const spec = machine({ StartAt: 'S', States });
    const first = await open(spec, { task: integration });
    await first.start({ i: 1 }, 'a');
    await until(() => calls.length === 2);
    const [running, history, snapshot] = [await first.describe(arn), await historyOf(first), first.snapshot(arn)];
    await first.engine.stop();

    const local = await open(spec, { task: hang });
    await until(() => local.snapshot(arn).states.length === 2);
    const { $metadata: _, ...described } = running as typeof running & { $metadata: unknown };
    expect(await local.describe(arn)).toMatchObject(described);
    expect(await historyOf(local)).toEqual(history);
    expect(local.snapshot(arn)).toEqual(snapshot);
    expect(await local.start({ i: 1 }, 'a')).toBe(arn);
    await expect(local.start({ i: 2 }, 'a')).rejects.toThrow(taken);
    await local.stop(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'ABORTED' });
  });

  it('stop sends no end event: the execution did not end', async () => {
    const local = await open(single({ Type: 'Wait', Seconds: 9_999 }));
    await local.start({}, 'a');
    await local.engine.stop();
    await expect(local.engine.operations.DescribeExecution?.({ executionArn: arn })).rejects.toThrow('stopped');
    expect(local.changes.map(({ status }) => status)).toEqual(['RUNNING']);
  });

  it('its end event comes from the process in which it ends', async () => {
    await interrupted(single({ Type: 'Wait', Seconds: 1 }), { timeScale: 1 }, (local) => local.changes.length === 1);
    const local = await open(single({ Type: 'Wait', Seconds: 1 }), { timeScale: 1, now: later(1) });
    await local.ended(arn);
    expect(local.changes).toMatchObject([{ status: 'SUCCEEDED', input: '{"i":1}', output: '{"i":1}' }]);
  });
});

describe('a closed execution stays closed', () => {
  const Fail = { Type: 'Fail', Error: 'E', Cause: 'why' };
  const Choices = [{ Condition: '{% $states.input.fails %}', Next: 'Fail' }];
  const spec = machine({
    StartAt: 'S',
    States: { S: { Type: 'Choice', Choices, Default: 'T' }, T: call({ End: true }), Fail },
  });

  it('its name is taken, for the same input, too; it is described and listed as before', async () => {
    const first = await open(spec, { task: answers({ o: 1 }).integration });
    const done = await first.ended(await first.start({ fails: false }, 'done'));
    const failed = await first.ended(await first.start({ fails: true }, 'failed'));
    await first.start({ fails: false }, 'aborted');
    await first.stop(executionArn('aborted'));
    const aborted = await first.describe(executionArn('aborted'));
    const { transitions } = first.snapshot(executionArn('failed'));
    await first.engine.stop();

    // The second reads what the first appended, the third what the second rewrote.
    for (let process = 2; process <= 3; process += 1) {
      const local = await open(spec);
      for (const known of [done, failed, aborted]) {
        const { $metadata: _, ...described } = known as typeof known & { $metadata: unknown };
        expect(await local.describe(known.executionArn ?? '')).toMatchObject(described);
        await expect(local.start(JSON.parse(known.input ?? ''), known.name)).rejects.toThrow(taken);
      }
      const { executions = [] } = await local.client.send(
        new ListExecutionsCommand({ stateMachineArn: machineArn(), maxResults: 2 }),
      );
      expect(executions.map(({ name, status }) => [name, status])).toEqual([
        ['aborted', 'ABORTED'],
        ['failed', 'FAILED'],
      ]);
      expect(local.snapshot(executionArn('failed'))).toMatchObject({ states: [], transitions });
      await local.engine.stop();
    }
  });

  it('until 90 days later, when AWS frees the name, too', async () => {
    const first = await open(spec);
    await first.ended(await first.start({ fails: false }, 'a'));
    await first.engine.stop();
    const days = (count: number) => later(count * 24 * 60 * 60);
    const soon = await open(spec, { now: days(89.9) });
    await expect(soon.start({ fails: false }, 'a')).rejects.toThrow(taken);
    await soon.engine.stop();
    const late = await open(spec, { now: days(90.1) });
    expect(await late.start({ fails: false }, 'a')).toBe(arn);
  });

  it('its dropped texts stay dropped, and count as dropped', async () => {
    const first = await open(spec);
    for (const name of ['a', 'b', 'c']) await first.ended(await first.start({ fails: false }, name));
    await first.engine.stop();
    for (const keepClosed of [1, 20]) {
      const local = await open(spec, { keepClosed });
      const inputs = await Promise.all(
        ['a', 'b', 'c'].map(async (name) => (await local.describe(executionArn(name))).input),
      );
      expect(inputs).toEqual([undefined, undefined, '{"fails":false}']);
      await local.engine.stop();
    }
  });
});

describe('an answer before the restart counts', () => {
  it('the result of a task: it is not called again', async () => {
    const spec = machine({
      StartAt: 'S',
      States: {
        S: call({ Assign: { first: '{% $states.result %}' }, Next: 'T' }),
        T: call({ Arguments: '{% $first %}', Output: '{% [$first, $states.result] %}', End: true }),
      },
    });
    const before = answers('one');
    await interrupted(spec, { task: before.integration }, () => before.calls.length === 2);
    const { calls, integration } = answers('two');
    const local = await open(spec, { task: integration });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', output: '["one","two"]' });
    expect(calls).toMatchObject([{ arguments: 'one' }]);
  });

  it('the failure of a task, for the Catch and Retry that took it, with its attempts', async () => {
    const fields = {
      Arguments: '{% $states.context.State.RetryCount %}',
      Retry: [{ ErrorEquals: ['E'], MaxAttempts: 2 }],
      Catch: [{ ErrorEquals: ['E'], Output: '{% $states.errorOutput.Cause %}', Next: 'Caught' }],
    };
    const before = answers(new StatesError('E', '0'), new StatesError('E', '1'));
    await interrupted(task(fields), { task: before.integration }, () => before.calls.length === 3);
    const { calls, integration } = answers(new StatesError('E', '2'));
    const local = await open(task(fields), { task: integration });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', output: '"2"' });
    expect(calls).toMatchObject([{ arguments: 2, lost: true }]);
    expect(local.snapshot(arn)).toMatchObject({ states: ['S', 'Caught'], transitions: 4 });
  });

  it('the branches and the items that are done', async () => {
    const item = { StartAt: 'I', States: { I: call({ Arguments: '{% "item " & $states.input %}', End: true }) } };
    const each = { Type: 'Map', Items: [1, 2, 3], MaxConcurrency: 1, ItemProcessor: item, End: true };
    const branches = [
      { StartAt: 'B', States: { B: call({ Arguments: 'branch', End: true }) } },
      { StartAt: 'Each', States: { Each: each } },
    ];
    const spec = single({ Type: 'Parallel', Branches: branches });
    const before = answers('b', 'i1');
    await interrupted(spec, { task: before.integration }, () => before.calls.length === 3);
    expect(before.calls.map((one) => one.arguments)).toEqual(['branch', 'item 1', 'item 2']);
    const { calls, integration } = answers('i2', 'i3');
    const local = await open(spec, { task: integration });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ output: '["b",["i1","i2","i3"]]' });
    expect(calls).toMatchObject([
      { arguments: 'item 2', lost: true },
      { arguments: 'item 3', lost: false },
    ]);
    expect(local.snapshot(arn)).toMatchObject({ transitions: 6 });
  });

  it('a branch that the failure of another one aborted is not called again', async () => {
    const branches = [
      { StartAt: 'Open', States: { Open: call({ Arguments: 'open', End: true }) } },
      { StartAt: 'Fails', States: { Fails: call({ Arguments: 'fails', End: true }) } },
    ];
    const Catch = [{ ErrorEquals: ['E'], Next: 'Last' }];
    const Both = { Type: 'Parallel', Branches: branches, Catch, End: true };
    const spec = machine({ StartAt: 'Both', States: { Both, Last: call({ Arguments: 'last', End: true }) } });
    const before = answers(hang(), new StatesError('E'));
    await interrupted(spec, { task: before.integration }, () => before.calls.length === 3);
    const { calls, integration } = answers('done');
    const local = await open(spec, { task: integration });
    await local.engine.closed(arn);
    expect(calls.map((one) => one.arguments)).toEqual(['last']);
    expect(await local.describe(arn)).toMatchObject({ output: '"done"' });
  });

  it('as often as the process ends', async () => {
    const States = Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [
        `S${i}`,
        call({ Arguments: i, ...(i < 4 ? { Next: `S${i + 1}` } : { End: true }) }),
      ]),
    );
    const spec = machine({ StartAt: 'S0', States });
    for (let i = 0; i < 5; i += 1) {
      const { calls, integration } = answers(...(i === 0 ? [] : ['next']));
      const local = await open(spec, { task: integration });
      if (i === 0) await local.start({}, 'a');
      await until(() => calls.length === (i === 0 ? 1 : 2));
      expect(calls.at(-1)).toMatchObject({ arguments: i, lost: false });
      await local.engine.stop();
    }
    const { integration } = answers('last');
    const local = await open(spec, { task: integration });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', output: '"last"' });
    expect(local.snapshot(arn)).toMatchObject({ states: ['S0', 'S1', 'S2', 'S3', 'S4'], transitions: 5 });
  });
});
