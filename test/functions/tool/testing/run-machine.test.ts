import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runMachineTool } from '../../../../functions/tool/testing.ts';

const named = (name: string, message = '') => Object.assign(new Error(message), { name });
const task = (fields: object = {}) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Arguments: { FunctionName: 'REPORT', Payload: '{% $states.input %}' },
  Output: '{% $states.result.Payload %}',
  End: true,
  ...fields,
});
const machine = (states: Record<string, object>) => ({
  QueryLanguage: 'JSONata',
  StartAt: Object.keys(states)[0],
  States: states,
});
const REPORT = machine({
  'All customers': {
    Type: 'Map',
    Items: '{% $states.input.arguments.customers %}',
    MaxConcurrency: 2,
    ItemProcessor: machine({
      'One customer': task({ Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 60, MaxAttempts: 2 }] }),
    }),
    Next: 'Until the morning',
  },
  'Until the morning': { Type: 'Wait', Timestamp: '2026-07-02T06:00:00Z', Next: 'Sum up' },
  'Sum up': { Type: 'Pass', Output: "{% { 'rows': $sum($states.input.rows) } %}", End: true },
});
delete (REPORT.States['All customers'] as { ItemProcessor: { QueryLanguage?: string } }).ItemProcessor.QueryLanguage;
const startsAt = new Date('2026-07-01T22:00:00Z');
const event = { arguments: { customers: ['a', 'bb', 'ccc'] } };
type Invoked = { Payload: string };

describe('runMachineTool', () => {
  test('runs a definition with mocked tasks, skips its waits, and says what it did', async () => {
    const mocks = {
      'One customer': (call: { arguments: unknown }) => ({
        Payload: { rows: (call.arguments as Invoked).Payload.length },
      }),
    };
    const ran = await runMachineTool(REPORT, event, { mocks, startsAt });
    expect(ran.result).toEqual({ rows: 6 });
    expect(ran.endedAt).toEqual(new Date('2026-07-02T06:00:00Z'));
    expect(ran.states.filter((name) => name === 'One customer')).toHaveLength(3);
    expect(ran.states.slice(-2)).toEqual(['Until the morning', 'Sum up']);
    expect(ran.calls[1]).toEqual({
      state: 'One customer',
      resource: 'arn:aws:states:::lambda:invoke',
      arguments: { FunctionName: 'REPORT', Payload: 'bb' },
    });
  });

  test('a mock that throws fails the task: Retry sees the name, and its delays take no time', async () => {
    let busy = 2;
    const definition = machine({ S: task({ Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 3_600 }] }) });
    const flaky = () => {
      if (busy-- > 0) throw named('Busy');
      return { Payload: 'at last' };
    };
    const ran = await runMachineTool(definition, {}, { mocks: { S: flaky }, startsAt });
    expect(ran.result).toBe('at last');
    expect(ran.endedAt.getTime() - startsAt.getTime()).toBe((3_600 + 7_200) * 1000);
    const failing = () => Promise.reject(named('OutOfStock', 'none left'));
    const failed = await runMachineTool(definition, {}, { mocks: { S: failing } });
    expect(failed).toMatchObject({ failure: { error: 'OutOfStock', cause: 'none left' }, states: ['S'] });
    expect(failed).not.toHaveProperty('result');
  });

  test('a task with a token ends with the output that its mock gives', async () => {
    const Arguments = { FunctionName: 'mail', Payload: { token: '{% $states.context.Task.Token %}' } };
    const asks = {
      Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
      Arguments,
      Output: '{% $states.result %}',
    };
    const definition = machine({ Ask: task({ ...asks, HeartbeatSeconds: 60, TimeoutSeconds: 86_400 }) });
    const ran = await runMachineTool(definition, {}, { mocks: { Ask: { approved: true } } });
    expect(ran.result).toEqual({ approved: true });
    expect(ran.calls[0]?.arguments).toMatchObject({ Payload: { token: expect.stringMatching(/^.{40,}$/) } });
    const late = () => Promise.reject(named('States.Timeout'));
    expect((await runMachineTool(definition, {}, { mocks: { Ask: late } })).failure?.error).toBe('States.Timeout');
  });

  test('gives the machine the event of a tool', async () => {
    const definition = JSON.stringify(machine({ S: { Type: 'Pass', End: true } }));
    const { result } = await runMachineTool(definition, { arguments: { a: 1 }, accepts: ['elicitation/create'] });
    expect(result).toMatchObject({
      ...{ name: 'test', arguments: { a: 1 }, accepts: ['elicitation/create'], inputResponses: {} },
      task: { taskId: 'test', round: 1, attempt: 0, deadline: expect.any(Number) },
    });
  });

  test('runs the machine of the example', async () => {
    const definition = readFileSync('functions/examples/inspect-regions.asl.json', 'utf8');
    const { result, states } = await runMachineTool(definition, {
      arguments: { regions: ['eu-west-1', 'eu-north-1'] },
    });
    expect(result).toMatchObject({
      structuredContent: { regions: [{ region: 'eu-west-1' }, { region: 'eu-north-1' }] },
    });
    expect(states.at(-1)).toBe('Sum up');
  });

  test('runs waits of branches in the order of their times', async () => {
    const wait = (name: string, Seconds: number) => ({
      StartAt: name,
      States: { [name]: { Type: 'Wait', Seconds, Next: `${name} over` }, [`${name} over`]: { Type: 'Succeed' } },
    });
    const Branches = [wait('long', 100), wait('short', 1)];
    const { states } = await runMachineTool(machine({ Both: { Type: 'Parallel', Branches, End: true } }));
    expect(states).toEqual(['Both', 'long', 'short', 'short over', 'long over']);
  });

  test('an execution of more than its TimeoutSeconds fails as on AWS', async () => {
    const definition = { ...machine({ W: { Type: 'Wait', Seconds: 100, End: true } }), TimeoutSeconds: 99 };
    expect((await runMachineTool(definition)).failure).toEqual({ error: 'States.Timeout', cause: '' });
  });
});

describe('runMachineTool fails the test', () => {
  test('if a task has no mock, even if the machine catches its error', async () => {
    const Catch = [{ ErrorEquals: ['States.ALL'], Next: 'Done' }];
    const definition = machine({ S: task({ Catch }), Done: { Type: 'Succeed' } });
    await expect(runMachineTool(definition)).rejects.toThrow(
      "The state 'S' calls arn:aws:states:::lambda:invoke, and the test has no mock for it",
    );
  });

  test('if the definition has what the embedded Step Functions does not know', async () => {
    const definition = machine({ S: { Type: 'Pass', InputPath: '$.a', End: true } });
    await expect(runMachineTool(definition)).rejects.toThrow("state 'S', field 'InputPath'");
  });
});
