import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Cloud, startCloud } from '../../../cloud.ts';
import {
  adminRole,
  clientConfig,
  dynamoDbClient,
  functionResource,
  tableResource,
  temporaryDir,
  writeAssembly,
} from '../../fixture.ts';
import { until } from '../support.ts';

const arnOf = (machine: string) => `arn:aws:states:us-east-1:000000000000:stateMachine:${machine}`;
const runOf = (machine: string) => `${arnOf(machine).replace('stateMachine', 'execution')}:a`;

const resource = (name: string) => `arn:aws:states:::${name}`;
const task = (name: string, fields: object) => ({ Type: 'Task', Resource: resource(name), ...fields });
const only = (state: object) => ({ StartAt: 'S', States: { S: { ...state, End: true } } });
const invocation = {
  FunctionName: 'Work',
  Payload: '{% { "file": $states.input.file, "attempt": $states.context.State.RetryCount } %}',
};
const child = (more: object = {}) => ({ StateMachineArn: arnOf('Child'), Input: '{% $states.input %}', ...more });
const key = { owner: { S: 'o' }, id: { S: 'i' } };

const definitions: Record<string, object> = {
  Invokes: only(task('lambda:invoke', { Arguments: invocation })),
  Waits: only(task('lambda:invoke', { Arguments: invocation })),
  Repeats: only(
    task('lambda:invoke', {
      Arguments: invocation,
      Retry: [{ ErrorEquals: ['Runtime.ExitError'], IntervalSeconds: 1 }],
      Output: '{% $states.result.Payload %}',
    }),
  ),
  Counts: only(
    task('dynamodb:updateItem', {
      Arguments: {
        TableName: 'things',
        Key: key,
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      },
      Output: 'counted',
    }),
  ),
  Child: only({ Type: 'Wait', Seconds: 1, Output: 'of the child' }),
  Named: only(
    task('states:startExecution.sync:2', { Arguments: child({ Name: 'a' }), Output: '{% $states.result.Output %}' }),
  ),
  Nameless: only(task('states:startExecution.sync:2', { Arguments: child(), Output: '{% $states.result.Output %}' })),
};

/** Writes a file when it runs. A first attempt never ends. */
const work = `import { appendFileSync } from 'node:fs';
export const handler = async ({ file, attempt }) => {
  appendFileSync(file, 'ran\\n');
  if (attempt === 0) await new Promise((resolve) => setTimeout(resolve, 60_000));
  return 'attempt ' + attempt;
};`;

let dir = '';
let assembly = '';
let cloud: Cloud;
beforeEach(async () => {
  dir = temporaryDir();
  const machines = Object.entries(definitions).map(([name, definition]) => {
    const DefinitionString = JSON.stringify({ QueryLanguage: 'JSONata', ...definition });
    const Properties = { StateMachineName: name, RoleArn: { 'Fn::GetAtt': ['TheRole', 'Arn'] }, DefinitionString };
    return [name, { Type: 'AWS::StepFunctions::StateMachine', Properties }];
  });
  const resources = {
    TheRole: adminRole('states'),
    Work: functionResource('work', { FunctionName: 'Work', Timeout: 300 }),
    Things: tableResource(),
    ...Object.fromEntries(machines),
  };
  assembly = writeAssembly({ environment: 'aws://000000000000/us-east-1', resources, assets: { work } });
  cloud = await start();
});
afterEach(async () => {
  await cloud.stop();
  for (const folder of [dir, assembly]) rmSync(folder, { recursive: true, force: true });
});

const start = () => startCloud({ assembly, dataDir: join(dir, 'data'), timeScale: 2, maxWorkersPerFunction: 1 });
const sfn = () => new SFNClient(clientConfig(cloud));
const file = () => join(dir, 'ran');
const runs = () => readFileSync(file(), { encoding: 'utf8', flag: 'a+' }).split('\n').length - 1;
const begin = (machine: string) =>
  sfn().send(
    new StartExecutionCommand({ stateMachineArn: arnOf(machine), name: 'a', input: JSON.stringify({ file: file() }) }),
  );
async function ended(machine: string) {
  await cloud.stepFunctions.closed(runOf(machine));
  return sfn().send(new DescribeExecutionCommand({ executionArn: runOf(machine) }));
}

/** Turns the power off and on again; `cut`: as if that had been before the first record of this type and execution. */
async function restart(cut?: { type: string; execution: number }): Promise<void> {
  await cloud.stop();
  const journal = join(dir, 'data', 'step-functions.jsonl');
  const lines = readFileSync(journal, 'utf8').split('\n');
  const matches = (line: string) => {
    const { type, execution } = JSON.parse(line || '{}');
    return type === cut?.type && execution === cut?.execution;
  };
  const end = cut === undefined ? -1 : lines.findIndex(matches);
  if (cut !== undefined)
    writeFileSync(
      journal,
      lines
        .slice(0, end)
        .map((line) => `${line}\n`)
        .join(''),
    );
  cloud = await start();
}

describe('a function was running when the process ended', () => {
  const exited = {
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringMatching(/^RequestId: \S+ Error: Runtime exited with error: signal: killed$/),
  };

  it('the task fails by the name of the exit', async () => {
    await begin('Invokes');
    await until(() => runs() === 1);
    await restart();
    const { error, cause = '' } = await ended('Invokes');
    expect([error, JSON.parse(cause)]).toEqual(['Runtime.ExitError', exited]);
    expect(runs()).toBe(1);
  });

  it('it runs again where the Retry of its state says so', async () => {
    await begin('Repeats');
    await until(() => runs() === 1);
    await restart();
    expect(await ended('Repeats')).toMatchObject({ status: 'SUCCEEDED', output: '"attempt 1"' });
    expect(runs()).toBe(2);
  });
});

it('a function that waited for a worker when the process ended lost nothing: it runs, once', async () => {
  await begin('Invokes');
  await until(() => runs() === 1);
  await begin('Waits');
  await restart();
  await until(() => runs() === 2);
  expect(await ended('Invokes')).toMatchObject({ status: 'FAILED', error: 'Runtime.ExitError' });
  await restart();
  expect(await ended('Waits')).toMatchObject({ status: 'FAILED', error: 'Runtime.ExitError' });
  expect(runs()).toBe(2);
});

it('an update whose answer was lost is made again', async () => {
  await begin('Counts');
  await ended('Counts');
  await restart({ type: 'answered', execution: 1 });
  expect(await ended('Counts')).toMatchObject({ status: 'SUCCEEDED', output: '"counted"' });
  const { Item } = await dynamoDbClient(cloud).send(new GetItemCommand({ TableName: 'things', Key: key }));
  expect(Item?.n).toEqual({ N: '2' });
});

describe.each(['Named', 'Nameless'])('an execution was waiting for another one (%s)', (machine) => {
  const children = () => cloud.stepFunctions.executions().filter(({ arn }) => arn.includes(':Child:'));

  it('both continue, and it waits for the same one', async () => {
    await begin(machine);
    await until(() => children().length === 1);
    const [before] = children();
    await restart();
    expect(await ended(machine)).toMatchObject({ status: 'SUCCEEDED', output: '"of the child"' });
    expect(children()).toMatchObject([{ arn: before?.arn, status: 'SUCCEEDED' }]);
  });

  it('the other one had ended: its output is taken', async () => {
    await begin(machine);
    await ended(machine);
    // The first answer of the first execution belongs to its task.
    await restart({ type: 'answered', execution: 1 });
    expect(children()).toMatchObject([{ status: 'SUCCEEDED' }]);
    expect(await ended(machine)).toMatchObject({ status: 'SUCCEEDED', output: '"of the child"' });
    expect(children()).toHaveLength(1);
  });

  it('the other one had not begun: it begins now', async () => {
    await begin(machine);
    await ended(machine);
    await restart({ type: 'started', execution: 2 });
    expect(await ended(machine)).toMatchObject({ status: 'SUCCEEDED', output: '"of the child"' });
    expect(children()).toHaveLength(1);
  });
});
