import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { adminRole, clientConfig, writeAssembly } from '../fixture.ts';

const arnOf = (machine: string) => `arn:aws:states:us-east-1:000000000000:stateMachine:${machine}`;
const runOf = (machine: string, name: string) => `${arnOf(machine).replace('stateMachine', 'execution')}:${name}`;

const end = (state: object) => ({ StartAt: 'S', States: { S: { ...state, End: true } } });
const parent = (resource: string, fields: object, state: object = {}) =>
  end({ Type: 'Task', Resource: `arn:aws:states:::${resource}`, Arguments: fields, ...state });
const child = (machine: string, more: object = {}) => ({
  StateMachineArn: arnOf(machine),
  Name: '{% $states.context.Execution.Name %}',
  Input: '{% $states.input %}',
  ...more,
});
const definitions: Record<string, object> = {
  Echo: end({ Type: 'Pass' }),
  Sleeper: end({ Type: 'Wait', Seconds: 1_000 }),
  Failing: { StartAt: 'S', States: { S: { Type: 'Fail', Error: 'OutOfStock', Cause: 'none left' } } },
  Text: parent('states:startExecution.sync', child('Echo')),
  Json: parent('states:startExecution.sync:2', child('Echo')),
  Fails: parent('states:startExecution.sync', child('Failing')),
  Waits: parent('states:startExecution.sync', child('Sleeper')),
  TimesOut: parent('states:startExecution.sync', child('Sleeper'), { TimeoutSeconds: 1 }),
  Missing: parent('states:startExecution.sync', child('Nowhere')),
  Odd: parent('states:startExecution.sync', child('Echo', { TraceHeader: 'x' })),
  Describes: parent('aws-sdk:sfn:describeExecution', { ExecutionArn: '{% $states.input %}' }),
};

let assembly: string;
let cloud: Cloud;
let sfn: SFNClient;
beforeAll(async () => {
  const machines = Object.entries(definitions).map(([name, definition]) => [
    name,
    {
      Type: 'AWS::StepFunctions::StateMachine',
      Properties: {
        StateMachineName: name,
        RoleArn: { 'Fn::GetAtt': ['TheRole', 'Arn'] },
        DefinitionString: JSON.stringify({ QueryLanguage: 'JSONata', ...definition }),
      },
    },
  ]);
  const environment = 'aws://000000000000/us-east-1';
  assembly = writeAssembly({
    environment,
    resources: { TheRole: adminRole('states'), ...Object.fromEntries(machines) },
  });
  cloud = await startCloud({ assembly, recordCalls: true });
  sfn = new SFNClient(clientConfig(cloud));
});
afterAll(() => cloud?.stop());

const start = (machine: string, name: string, input: unknown = {}) =>
  sfn.send(new StartExecutionCommand({ stateMachineArn: arnOf(machine), name, input: JSON.stringify(input) }));
const describeRun = (machine: string, name: string) =>
  sfn.send(new DescribeExecutionCommand({ executionArn: runOf(machine, name) }));

async function run(machine: string, name: string, input: unknown = {}) {
  await start(machine, name, input);
  await cloud.stepFunctions.closed(runOf(machine, name));
  const { status, output, error, cause } = await describeRun(machine, name);
  return { status, error, cause, output: output === undefined ? undefined : JSON.parse(output) };
}

describe('startExecution.sync', () => {
  test('answers what DescribeExecution says, with input and output as text, dates in milliseconds', async () => {
    const mark = cloud.calls.mark();
    const { output } = await run('Text', 'a', { n: 9007199254740991 });
    expect(output).toEqual({
      ExecutionArn: runOf('Echo', 'a'),
      Input: '{"n":9007199254740991}',
      InputDetails: { Included: true },
      Name: 'a',
      Output: '{"n":9007199254740991}',
      OutputDetails: { Included: true },
      RedriveCount: 0,
      StartDate: expect.closeTo(Date.now(), -5),
      StateMachineArn: arnOf('Echo'),
      Status: 'SUCCEEDED',
      StopDate: expect.closeTo(Date.now(), -5),
    });
    const asked = cloud.calls.since(mark).filter(({ caller }) => caller !== 'test');
    expect(asked.map(({ caller, operation }) => `${caller} ${operation}`)).toEqual([
      'TheRole StartExecution',
      'TheRole DescribeExecution',
    ]);
  });

  test('.sync:2 answers them as JSON', async () => {
    const { output } = await run('Json', 'b', { n: [1] });
    expect(output).toMatchObject({ Input: { n: [1] }, Output: { n: [1] }, Status: 'SUCCEEDED' });
  });

  test('fails with the execution, whose description is the cause, cut to 32 KiB', async () => {
    const { status, error, cause = '' } = await run('Fails', 'c');
    expect([status, error]).toEqual(['FAILED', 'States.TaskFailed']);
    expect(JSON.parse(cause)).toMatchObject({ Error: 'OutOfStock', Cause: 'none left', Status: 'FAILED', Input: '{}' });
    const long = await run('Fails', 'd', { text: 'x'.repeat(40_000) });
    expect(long.cause).toHaveLength(32_768);
  });

  test('input and output share the limit of what a task returns', async () => {
    const fits = await run('Text', 'e', { text: 'x'.repeat(120_000) });
    expect(fits.status).toBe('SUCCEEDED');
    const tooLarge = await run('Text', 'f', { text: 'x'.repeat(140_000) });
    expect(tooLarge).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' });
  });
});

describe('the execution is stopped', () => {
  const stopped = async (machine: string, name: string) => {
    await expect.poll(async () => (await describeRun('Sleeper', name)).status).toBe('ABORTED');
    const { cause, error } = await describeRun('Sleeper', name);
    expect(error).toBeUndefined();
    expect(cause).toBe(
      `The Task state in AWS Step Functions execution [${runOf(machine, name)}] which was managing this resource was aborted`,
    );
  };

  test('with the one that waits for it', async () => {
    await start('Waits', 'g');
    await expect.poll(async () => (await describeRun('Sleeper', 'g').catch(() => undefined))?.status).toBe('RUNNING');
    await sfn.send(new StopExecutionCommand({ executionArn: runOf('Waits', 'g') }));
    await stopped('Waits', 'g');
  });

  test('even if the task ends while it starts', async () => {
    const { executionArn } = await start('Waits', 'h');
    await sfn.send(new StopExecutionCommand({ executionArn }));
    // This is long enough for a start that was under way.
    await sleep(500);
    const states = cloud.stepFunctions.executions().filter(({ name }) => name === 'h');
    expect(states.map(({ status }) => status)).not.toContain('RUNNING');
  });

  test('when the task that waits for it takes too long', async () => {
    expect(await run('TimesOut', 'i')).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    await stopped('TimesOut', 'i');
  });
});

describe('the event of its end is lost', () => {
  let fast: Cloud;
  beforeAll(async () => {
    // A poll of five minutes is 300 ms.
    fast = await startCloud({ assembly, timeScale: 1_000, recordCalls: true });
  });
  afterAll(() => fast?.stop());
  const END = { service: 'events', operation: 'Deliver', do: 'drop' } as const;
  const ENDS_RULE = 'StepFunctionsGetEventsForStepFunctionsExecutionRule';
  const text = (name: string) =>
    new SFNClient(clientConfig(fast)).send(
      new StartExecutionCommand({ stateMachineArn: arnOf('Text'), name, input: '{}' }),
    );
  const statusOf = (name: string) =>
    fast.stepFunctions.executions().find((one) => one.arn === runOf('Text', name))?.status;

  test('the next poll finds it, and one that fails is made again', async () => {
    const lost = fast.faults.add({ ...END, caller: ENDS_RULE });
    const throttled = { error: 'ThrottlingException' };
    const failing = fast.faults.add({
      service: 'states',
      operation: 'DescribeExecution',
      caller: 'TheRole',
      do: throttled,
    });
    await text('lost');
    await lost.struck;
    await failing.struck;
    expect(statusOf('lost')).toBe('RUNNING');
    await expect.poll(() => statusOf('lost')).toBe('SUCCEEDED');
  });

  test('a task that ends before the next poll is over', async () => {
    // Here the next poll is five minutes away.
    const lost = cloud.faults.add({ ...END, caller: ENDS_RULE });
    const { executionArn } = await start('Text', 'stopped');
    await lost.struck;
    await sfn.send(new StopExecutionCommand({ executionArn }));
    expect((await describeRun('Text', 'stopped')).status).toBe('ABORTED');
  });
});

describe('names', () => {
  test('the same name and input while it runs is the same execution; a closed one stays taken', async () => {
    await start('Sleeper', 'j', {});
    await start('Waits', 'j', {});
    await sfn.send(new StopExecutionCommand({ executionArn: runOf('Sleeper', 'j') }));
    await cloud.stepFunctions.closed(runOf('Waits', 'j'));
    expect(await describeRun('Waits', 'j')).toMatchObject({ status: 'FAILED', error: 'States.TaskFailed' });
    await run('Echo', 'k');
    expect((await run('Text', 'k')).error).toBe('StepFunctions.ExecutionAlreadyExistsException');
  });

  test.each([
    ['Missing', 'StepFunctions.StateMachineDoesNotExistException'],
    ['Odd', 'States.Runtime'],
  ])('%s', async (machine, error) => {
    expect((await run(machine, 'l')).error).toBe(error);
  });
});

test.each([
  ['ThrottlingException', 'StepFunctions.AWSStepFunctionsException', 'Sfn.SfnException'],
  ['KmsThrottlingException', 'StepFunctions.KmsThrottlingException', 'Sfn.KmsThrottlingException'],
])('%s is named as the model of the service has it, or not', async (error, ofStart, ofDescribe) => {
  onTestFinished(() => cloud.faults.clear());
  for (const operation of ['StartExecution', 'DescribeExecution']) {
    cloud.faults.add({ service: 'states', operation, caller: 'TheRole', do: { error } });
  }
  expect((await run('Text', error)).error).toBe(ofStart);
  expect((await run('Describes', error, runOf('Echo', 'a'))).error).toBe(ofDescribe);
});

describe('aws-sdk:sfn:describeExecution', () => {
  test('answers with capital letters and ISO dates', async () => {
    await run('Echo', 'm', { n: 1 });
    const { output } = await run('Describes', 'm', runOf('Echo', 'm'));
    expect(output).toMatchObject({
      Status: 'SUCCEEDED',
      Output: '{"n":1}',
      StartDate: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('names its errors as the SDK integrations do', async () => {
    expect((await run('Describes', 'n', runOf('Echo', 'none'))).error).toBe('Sfn.ExecutionDoesNotExistException');
  });
});
