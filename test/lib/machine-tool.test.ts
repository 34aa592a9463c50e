import jsonata from 'jsonata';
import { describe, expect, onTestFinished, test } from 'vitest';
import { definition } from '../../lib/workflow/definition.ts';
import { createStepFunctions, StatesError } from '../../local/testing.ts';
import { execution as input } from '../aws/row.ts';

const text = definition('machine');
const { States } = JSON.parse(text);
const arn = 'arn:aws:states:eu-west-1:123456789012:stateMachine:tool';
const substitutions: Record<string, string> = {
  StateMachines: "{'other': 'arn:other', 'x': 'arn:stateMachine:own'}",
  TableName: 'tasks',
  ResultsBucket: 'results',
  OutcomeFunctionArn: 'the-function',
};
const filled = (template: string) => template.replace(/\$\{(\w+)\}/g, (_, name: string) => substitutions[name] ?? '?');

interface Write {
  update: string;
  names: object;
  values: Record<string, { S: string }>;
}

/** An expression as the definition holds it. */
async function evaluate(field: string, states: object, RetryCount = 0): Promise<Write> {
  const expression = jsonata(filled(field).replace(/^\{%|%\}$/g, ''));
  expression.registerFunction('parse', (json: string) => JSON.parse(json) as unknown);
  const context = { Execution: { Input: input, Name: 't-r2' }, State: { RetryCount } };
  return JSON.parse(JSON.stringify(await expression.evaluate(undefined, { states: { context, ...states } })));
}
const ended = (result: object) => evaluate(States.Run.Output, { result });
const failed = (error: string, cause = '') =>
  evaluate(States.Run.Catch.at(-1).Output, { errorOutput: { Error: error, Cause: cause } });
const errorIn = (write: Write) => JSON.parse(write.values[':error']?.S ?? '');

describe('the definition', () => {
  test('runs the machine itself, and finishes as every tool does', () => {
    expect(States.Run.Resource).toBe('arn:aws:states:::states:startExecution.sync');
    const other = JSON.parse(definition('standard')).States;
    const { Finish, Store, Superseded } = other;
    expect(States).toMatchObject({ Finish, Store, Superseded });
    expect(JSON.stringify([States.Run, States.Collect])).not.toContain('lambda');
  });

  test('nothing is left to fill in but the substitutions of CloudFormation', () => {
    expect(text).not.toMatch(/<[a-zA-Z -]+(\.jsonata)?>/);
    expect(new Set(text.match(/\$\{(\w+)\}/g))).toEqual(
      new Set(Object.keys(substitutions).map((name) => `\${${name}}`)),
    );
  });

  test('a failed execution is not tried again: only a start that may not have been heard', () => {
    const errors: string[] = States.Run.Retry.flatMap(({ ErrorEquals }: { ErrorEquals: string[] }) => ErrorEquals);
    expect(errors.every((error) => error.startsWith('StepFunctions.'))).toBe(true);
    expect(errors).not.toContain('StepFunctions.ExecutionAlreadyExistsException');
  });
});

describe('the input of the machine', () => {
  test('is the event of the tool contract, digit for digit, named after task and round', async () => {
    expect(await evaluate(States.Run.Arguments.Name, {})).toBe('t-r2');
    expect(await evaluate(States.Run.Arguments.Input, {})).toEqual({
      name: 'x',
      arguments: { n: 9007199254740991 },
      task: expect.objectContaining({ taskId: 't', owner: 'o', round: 2, attempt: 0, deadline: input.deadlineAt }),
      accepts: ['elicitation/create'],
      inputResponses: { a: { action: 'accept' } },
      requestState: null,
    });
  });

  test('is the same in every attempt: another input would not match the existing execution', async () => {
    const inputs = await Promise.all([0, 3].map((attempt) => evaluate(States.Run.Arguments.Input, {}, attempt)));
    expect(inputs[1]).toEqual(inputs[0]);
  });
});

describe('the outcome', () => {
  test.each([
    ['{"id":9007199254740991,"pi":3.141592653589793}', false],
    ['{"content":[],"isError":true}', true],
    ['"text"', false],
    ['null', false],
  ])('the output %s is the result, digit for digit', async (Output, isError) => {
    const { values } = await ended({ Status: 'SUCCEEDED', Output, Input: '{}' });
    expect(values).toMatchObject({
      ':status': { S: 'completed' },
      ':result': { S: Output },
      ':isError': { BOOL: isError },
    });
  });

  test('questions end the round', async () => {
    const Output = '{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}},"requestState":1}';
    const { values } = await ended({ Status: 'SUCCEEDED', Output });
    expect(values).toMatchObject({ ':status': { S: 'input_required' }, ':asked': { S: Output } });
  });

  const cause = (more: object) =>
    JSON.stringify({ Cause: 'secret', ExecutionArn: 'arn:secret', ...more, Status: 'FAILED' });
  test.each([
    ['its own error', cause({ Error: 'OutOfStock', Input: '{}' }), 'OutOfStock'],
    [
      'its own error, however it is printed',
      JSON.stringify(JSON.parse(cause({ Error: 'A.b-c_1' })), null, 2),
      'A.b-c_1',
    ],
    ['its own timeout', cause({ Error: 'States.Timeout' }), 'States.Timeout'],
    ['an error like a sentence', cause({ Error: 'it is "secret", really' }), 'States.TaskFailed'],
    ['an error without end', cause({ Error: 'x'.repeat(200) }), 'States.TaskFailed'],
    ['no error', cause({}), 'States.TaskFailed'],
    ['an error that only its texts mention', cause({ Input: '{"Error":"Fake"}' }), 'States.TaskFailed'],
    ['a cause that was cut behind its error', cause({ Error: 'Late', Input: 'y' }).slice(0, 65), 'Late'],
    ['a cause that was cut within its error', cause({ Error: 'Late' }).slice(0, 57), 'States.TaskFailed'],
    ['a text that is not JSON', 'secret', 'States.TaskFailed'],
    ['nothing', '', 'States.TaskFailed'],
  ])('a failed execution with %s: the name of its error and nothing else (A-15)', async (_what, text, reason) => {
    const write = await failed('States.TaskFailed', text);
    expect(errorIn(write)).toEqual({ code: -32603, message: expect.any(String), data: { reason } });
    expect(JSON.stringify(write)).not.toMatch(/secret|arn:|Fake/);
  });

  test.each(['States.Timeout', 'States.DataLimitExceeded', 'StepFunctions.StateMachineDoesNotExistException'])(
    'a run that ends with %s',
    async (reason) => {
      expect(errorIn(await failed(reason, '{"Error":"Fake"}')).data).toEqual({ reason });
    },
  );
});

describe('a start that was not heard', () => {
  const unheard = new StatesError('StepFunctions.SdkClientException', 'lost');
  const exists = new StatesError('StepFunctions.ExecutionAlreadyExistsException', 'arn:secret');

  async function run(starts: readonly (object | StatesError)[], found: object) {
    const asked: unknown[] = [];
    const writes: Write['values'][] = [];
    const left = [...starts];
    const engine = createStepFunctions([{ arn, name: 'tool', roleArn: 'r', definition: filled(text) }], {
      timeScale: 1_000,
      integrations: {
        'arn:aws:states:::states:startExecution.sync': async (call) => {
          asked.push(call.arguments);
          const answer = left.shift();
          if (answer instanceof StatesError) throw answer;
          return answer;
        },
        'arn:aws:states:::aws-sdk:sfn:describeExecution': async (call) => {
          asked.push(call.arguments);
          return found;
        },
        'arn:aws:states:::dynamodb:updateItem': async (call) => {
          writes.push((call.arguments as { ExpressionAttributeValues: Write['values'] }).ExpressionAttributeValues);
          return {};
        },
        'arn:aws:states:::lambda:invoke': async () => {
          throw new Error('Everything here fits into the record');
        },
      },
    });
    onTestFinished(() => engine.stop());
    const request = { stateMachineArn: arn, name: 't-r2', input: JSON.stringify(input) };
    await engine.operations.StartExecution?.(request);
    await engine.closed(engine.executions()[0]?.arn ?? '');
    return { asked, write: writes[0] ?? {}, states: engine.executions()[0]?.states };
  }

  test('is repeated, word for word', async () => {
    const done = { Status: 'SUCCEEDED', Output: '"done"' };
    const { asked, write, states } = await run([unheard, unheard, done], {});
    expect(asked).toHaveLength(3);
    expect(new Set(asked.map((start) => JSON.stringify(start))).size).toBe(1);
    expect(write).toMatchObject({ ':status': { S: 'completed' }, ':result': { S: '"done"' } });
    expect(states).toEqual(['Run', 'Finish']);
  });

  const NO_ROOM = ['ExecutionLimitExceeded', 'AWSStepFunctions', 'Throttling', 'KmsThrottling'];
  test.each(NO_ROOM)('or finds no room (%sException) is repeated for a quarter of an hour', async (name) => {
    const full = new StatesError(`StepFunctions.${name}Exception`, 'Rate exceeded');
    const { asked, write } = await run([...Array(100).fill(full), { Status: 'SUCCEEDED', Output: '"done"' }], {});
    expect(asked).toHaveLength(101);
    expect(write).toMatchObject({ ':status': { S: 'completed' } });
  });

  test('whose execution has ended meanwhile: its outcome is collected', async () => {
    const { asked, write, states } = await run([unheard, exists], {
      Status: 'SUCCEEDED',
      Output: '{"n":9007199254740991}',
    });
    expect(asked.at(-1)).toEqual({ ExecutionArn: 'arn:execution:own:t-r2' });
    expect(write).toMatchObject({ ':status': { S: 'completed' }, ':result': { S: '{"n":9007199254740991}' } });
    expect(states).toEqual(['Run', 'Collect', 'Finish']);
  });

  test.each([
    [{ Status: 'FAILED', Error: 'OutOfStock', Cause: 'secret' }, 'OutOfStock'],
    [{ Status: 'FAILED', Error: 'a secret', Cause: 'secret' }, 'States.TaskFailed'],
    [{ Status: 'ABORTED' }, 'States.TaskFailed'],
  ])('whose execution has failed meanwhile: %o', async (found, reason) => {
    const { write } = await run([exists], found);
    expect(JSON.parse(write[':error']?.S ?? '')).toMatchObject({ code: -32603, data: { reason } });
    expect(JSON.stringify(write)).not.toContain('secret');
  });
});
