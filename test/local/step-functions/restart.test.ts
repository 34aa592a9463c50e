import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GetExecutionHistoryCommand, ListExecutionsCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { AGAIN, type IntegrationCall, StatesError } from '../../../local/step-functions/index.ts';
import { temporaryDir } from '../fixture.ts';
import { executionArn, type Local, machine, machineArn, RESOURCE, serve, single, task, until } from './support.ts';

let journal = '';
beforeEach(() => {
  const dir = temporaryDir();
  journal = join(dir, 'journal.jsonl');
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
});

type Specs = Parameters<typeof serve>[0];
type Setup = Parameters<typeof serve>[1];
const open = (specs: Specs, setup: Setup = {}) => serve(specs, { journal, ...setup });
const hang = () => new Promise<never>(() => {});
const arn = executionArn('a');
const taken = expect.objectContaining({ name: 'ExecutionAlreadyExists' });
/** A clock that is so far ahead: of a process that starts so much later. */
const later = (seconds: number) => () => Date.now() + seconds * 1000;
const call = (fields: object = {}) => ({ Type: 'Task', Resource: RESOURCE, ...fields });

/** Answers the calls in turn; the rest never. */
function answers(...results: unknown[]) {
  const calls: IntegrationCall[] = [];
  const integration = async (one: IntegrationCall) => {
    const index = calls.push(one) - 1;
    const result = index < results.length ? results[index] : hang();
    if (result instanceof Error) throw result;
    return result;
  };
  return { calls, integration };
}

/** Starts an execution called a, and turns the power off once `ready`. */
async function interrupted(specs: Specs, setup: Setup, ready: (local: Local) => boolean): Promise<void> {
  const local = await open(specs, setup);
  await local.start({ i: 1 }, 'a');
  await until(() => ready(local));
  // What the last event set off comes to rest, and nothing else.
  await new Promise((resolve) => setImmediate(resolve));
  await local.engine.stop();
}

const historyOf = async (local: Local) =>
  (await local.client.send(new GetExecutionHistoryCommand({ executionArn: arn }))).events;

describe('what was started exists', () => {
  it('even when the process ends before the first state; then nothing was called, and nothing is lost', async () => {
    const before = await open(task());
    const request = { stateMachineArn: machineArn(), name: 'a', input: '{"i":1}' };
    const [answer] = await Promise.all([before.engine.operations.StartExecution?.(request), before.engine.stop()]);
    const { calls, integration } = answers('done');
    const local = await open(task({ Arguments: '{% $states.input %}' }), { task: integration });
    await local.engine.closed(arn);
    const found = await local.describe(arn);
    expect(found).toMatchObject({ status: 'SUCCEEDED', input: '{"i":1}', output: '"done"' });
    expect(answer).toEqual({ executionArn: arn, startDate: Number(found.startDate) / 1000 });
    // With the definition it began with: its Arguments are another.
    expect(calls).toMatchObject([{ lost: false, arguments: {} }]);
  });

  it('and goes on running, with its name, its input, its start, and its history, in which nothing doubles', async () => {
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

  it('stop tells nobody that it ended: it did not', async () => {
    const local = await open(single({ Type: 'Wait', Seconds: 9_999 }));
    await local.start({}, 'a');
    await local.engine.stop();
    await expect(local.engine.operations.DescribeExecution?.({ executionArn: arn })).rejects.toThrow('stopped');
    expect(local.changes.map(({ status }) => status)).toEqual(['RUNNING']);
  });

  it('its end is told by the process in which it ends', async () => {
    await interrupted(single({ Type: 'Wait', Seconds: 1 }), { timeScale: 1 }, (local) => local.changes.length === 1);
    const local = await open([], { timeScale: 1, now: later(1) });
    await local.ended(arn);
    expect(local.changes).toMatchObject([{ status: 'SUCCEEDED', input: '{"i":1}', output: '{"i":1}' }]);
  });
});

describe('what is closed stays closed', () => {
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

    // The second reads what the first appended, the third what the second wrote anew.
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

  it('what was forgotten of it stays forgotten, and so it is counted', async () => {
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

describe('what came back counts', () => {
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

  it('its failure, for the Catch and the Retry that took it, and the attempts that it used up', async () => {
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

  it('a branch that another one took down with it is not called again', async () => {
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

describe('time goes on while nothing runs', () => {
  const waiting = (local: Local) => local.snapshot(arn).states.length > 0;

  it.each([
    ['Seconds', { Seconds: 3_600 }],
    ['Timestamp', { Timestamp: '{% $fromMillis($millis() + 3600000) %}' }],
  ])('a Wait by %s ends when it was due, not a whole wait later', async (_, fields) => {
    const spec = single({
      Type: 'Wait',
      ...fields,
      Output: '{% $millis() - $toMillis($states.context.Execution.StartTime) %}',
    });
    await interrupted(spec, { timeScale: 1 }, waiting);
    const early = await open(spec, { timeScale: 1, now: later(3_000) });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(early.snapshot(arn)).toMatchObject({ status: 'RUNNING', transitions: 1 });
    await early.engine.stop();

    const local = await open(spec, { timeScale: 1, now: later(3_599.5) });
    await local.engine.closed(arn);
    const { output = '' } = await local.describe(arn);
    expect(Number(output)).toBeGreaterThanOrEqual(3_599_990);
    expect(Number(output)).toBeLessThan(3_605_000);
  });

  it('the delay before a retry ends when it was due', async () => {
    const Retry = [{ ErrorEquals: ['E'], IntervalSeconds: 3_600 }];
    const before = answers(new StatesError('E'));
    await interrupted(task({ Retry }), { timeScale: 1, task: before.integration }, () => before.calls.length === 1);
    const early = answers('too early');
    const first = await open(task({ Retry }), { timeScale: 1, task: early.integration, now: later(3_000) });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await first.engine.stop();
    expect(early.calls).toEqual([]);
    const local = await open(task({ Retry }), { timeScale: 1, task: async () => 'ok', now: later(3_601) });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ output: '"ok"' });
    expect(local.snapshot(arn)).toMatchObject({ transitions: 2 });
  });

  it('the timeout of a task counts from its call', async () => {
    const Catch = [{ ErrorEquals: ['States.Timeout'], Next: 'Caught' }];
    const spec = task({ TimeoutSeconds: 3_600, Catch });
    const before = answers();
    await interrupted(spec, { timeScale: 1, task: before.integration }, () => before.calls.length === 1);
    const local = await open(spec, { timeScale: 1, task: hang, now: later(3_600) });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await local.events(arn)).toContain('TaskTimedOut');
  });

  it('the timeout of an execution counts from its start', async () => {
    const spec = machine({
      TimeoutSeconds: 3_600,
      StartAt: 'S',
      States: { S: { Type: 'Wait', Seconds: 9_999, End: true } },
    });
    await interrupted(spec, { timeScale: 1 }, waiting);
    const local = await open(spec, { timeScale: 1, now: later(3_600) });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'TIMED_OUT' });
  });

  it('of what fell due meanwhile, the earliest comes first', async () => {
    const branch = (name: string, Seconds: number) => ({
      StartAt: name,
      States: {
        [name]: { Type: 'Wait', Seconds, Next: `${name} fails` },
        [`${name} fails`]: { Type: 'Fail', Error: name },
      },
    });
    const Branches = [branch('third', 3_000), branch('first', 1_000), branch('second', 2_000)];
    const spec = single({ Type: 'Parallel', Branches });
    await interrupted(spec, { timeScale: 1 }, (local) => local.snapshot(arn).states.length === 4);
    const local = await open(spec, { timeScale: 1, now: later(9_999) });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'FAILED', error: 'first' });
  });
});

describe('a call whose answer was lost', () => {
  it('is made as such, with its id and its Arguments of then', async () => {
    const spec = task({ Arguments: { id: '{% $uuid() %}', at: '{% $millis() %}' } });
    const before = answers();
    await interrupted(spec, { task: before.integration }, () => before.calls.length === 1);
    const { calls, integration } = answers('found');
    const local = await open(spec, { task: integration });
    await local.engine.closed(arn);
    const [first, again] = [before.calls[0], calls[0]];
    expect(again).toMatchObject({ lost: true, id: first?.id, arguments: first?.arguments });
    expect(first?.lost).toBe(false);
    expect(await local.describe(arn)).toMatchObject({ output: '"found"' });
  });

  it('of an integration that waits is none until it has begun: till then it is made again as it was', async () => {
    const spec = task({ Arguments: { id: '{% $uuid() %}', at: '{% $millis() %}' } });
    const waiting = () => {
      const { calls, integration } = answers();
      return { calls, integration: Object.assign(integration, { waits: true } as const) };
    };
    const [first, second, third] = [waiting(), waiting(), waiting()];
    await interrupted(spec, { task: first.integration }, () => first.calls.length === 1);
    const local = await open(spec, { task: second.integration });
    await until(() => second.calls.length === 1);
    for (const _ of [1, 2]) second.calls[0]?.begins();
    await local.engine.stop();
    await open(spec, { task: third.integration });
    await until(() => third.calls.length === 1);
    const { id, arguments: sent } = first.calls[0] ?? {};
    const same = { id, arguments: sent };
    expect([...second.calls, ...third.calls]).toMatchObject([
      { ...same, lost: false },
      { ...same, lost: true },
    ]);
    expect(readFileSync(journal, 'utf8').match(/"type":"called"/g)).toHaveLength(1);
  });

  it('answered AGAIN is evaluated and made once more, now; its state is not entered again', async () => {
    const spec = task({ Arguments: '{% $millis() %}', TimeoutSeconds: 600 });
    const before = answers();
    await interrupted(spec, { timeScale: 1, task: before.integration }, () => before.calls.length === 1);
    const first = answers(AGAIN);
    const second = await open(spec, { timeScale: 1, task: first.integration, now: later(3_600) });
    await until(() => first.calls.length === 2);
    expect(first.calls).toMatchObject([{ lost: true }, { lost: false }]);
    const [then, now] = first.calls.map((one) => Number(one.arguments));
    expect((now ?? 0) - (then ?? 0)).toBeGreaterThanOrEqual(3_599_990);
    await second.engine.stop();

    const { calls, integration } = answers('done');
    const local = await open(spec, { timeScale: 1, task: integration, now: later(3_601) });
    await local.engine.closed(arn);
    expect(calls).toMatchObject([{ lost: true, arguments: now }]);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', output: '"done"' });
    expect((await local.events(arn)).filter((type) => type === 'TaskScheduled')).toHaveLength(1);
    expect(local.snapshot(arn)).toMatchObject({ transitions: 1 });
  });
});

describe('an execution keeps the definition it began with (row 23)', () => {
  const version = (output: string) =>
    machine({
      StartAt: 'S',
      States: { S: call({ Next: output }), [output]: { Type: 'Pass', Output: output, End: true } },
    });

  it('when another one of the same name is deployed, which is for those that start later', async () => {
    const before = answers();
    await interrupted(version('old'), { task: before.integration }, () => before.calls.length === 1);
    const local = await open(version('new'), { task: async () => 'ok' });
    expect(await local.ended(await local.start({}, 'b'))).toMatchObject({ output: '"new"' });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', output: '"old"' });
    expect(local.snapshot(arn)).toMatchObject({ states: ['S', 'old'] });
  });

  it('when its machine is no more', async () => {
    const before = answers();
    await interrupted(version('old'), { task: before.integration }, () => before.calls.length === 1);
    const local = await open(machine({ StartAt: 'S', States: { S: { Type: 'Pass', End: true } } }, 'other'), {
      task: async () => 'ok',
    });
    await local.engine.closed(arn);
    expect(await local.describe(arn)).toMatchObject({ status: 'SUCCEEDED', stateMachineArn: machineArn() });
    const start = new StartExecutionCommand({ stateMachineArn: machineArn() });
    await expect(local.client.send(start)).rejects.toThrow(
      expect.objectContaining({ name: 'StateMachineDoesNotExist' }),
    );
  });

  it('fails by name when what it calls is known no more', async () => {
    const before = answers();
    await interrupted(version('old'), { task: before.integration }, () => before.calls.length === 1);
    const local = await open([], { integrations: {} });
    expect(await local.describe(arn)).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: expect.stringContaining(`no integration is registered for '${RESOURCE}'`),
    });
  });

  it('which is stored once, however many began with it', async () => {
    const local = await open(version('old'), { task: hang });
    for (let i = 0; i < 10; i += 1) await local.start();
    const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('{"type":"machine"'))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith('{"type":"started"'))).toHaveLength(10);
  });
});
