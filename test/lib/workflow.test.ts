import jsonata from 'jsonata';
import { describe, expect, test } from 'vitest';
import { limits } from '../../functions/tasks/limits.ts';
import { create } from '../../functions/tasks/transitions.ts';
import { roundInput } from '../../functions/tasks/workflow.ts';
import { definition, include } from '../../lib/tool-workflow.ts';

const input = {
  owner: 'o',
  taskId: 't',
  tool: 'x',
  round: 2,
  deadlineAt: 1_000,
  arguments: '{"n":9007199254740991}',
  accepts: ['elicitation/create'],
  inputResponses: { a: { action: 'accept' } },
  requestState: null,
};

interface Write {
  update: string;
  names: object;
  values: Record<string, { S: string }>;
}
/** The expression as the definition holds it, with CloudFormation's substitutions made. */
function text(file: string): string {
  return include(`<${file}>`)
    .replaceAll('${ToolTimeoutSeconds}', '60')
    .replaceAll('${TableName}', 'tasks')
    .replaceAll('${ResultsBucket}', 'results')
    .replaceAll('<crashes>', "['Runtime.ExitError']");
}

async function evaluate(file: string, states: object, RetryCount = 1, Input: object = input): Promise<Write> {
  const expression = jsonata(text(file));
  expression.registerFunction('parse', (text: string) => JSON.parse(text) as unknown);
  const context = { Execution: { Input }, State: { RetryCount } };
  return JSON.parse(JSON.stringify(await expression.evaluate(undefined, { states: { context, ...states } })));
}
const finished = (payload: string, more: object = {}) =>
  evaluate('finished.jsonata', { result: { Payload: payload, ...more } });

/** The write's names and placeholders must match its expression: DynamoDB refuses unused ones. */
function checkPlaceholders(write: Write) {
  const finish = JSON.parse(definition(false)).States.Finish.Arguments;
  const text = `${write.update} ${finish.ConditionExpression}`;
  expect(new Set(text.match(/#\w+/g))).toEqual(new Set(Object.keys(write.names)));
  expect(finish.ExpressionAttributeValues).toContain(`$millis() - ${limits.lateWrite})`);
  expect(new Set(text.match(/:\w+/g))).toEqual(new Set([...Object.keys(write.values), ':latest']));
}

describe('finished.jsonata', () => {
  test.each([
    ['"text"', false],
    ['{"content":[],"isError":true}', true],
    ['{"isError":"yes"}', false],
    ['[1,2]', false],
    ['null', false],
    ['0', false],
  ])('%s completes the task, isError %s', async (payload, isError) => {
    const write = await finished(payload);
    expect(write).toMatchObject({
      values: {
        ':status': { S: 'completed' },
        ':result': { S: payload },
        ':isError': { BOOL: isError },
        ':inRound': { N: '2' },
      },
    });
    checkPlaceholders(write);
  });

  test('a result is stored as it came, digit for digit', async () => {
    const payload = '{"id":9007199254740991,"pi":3.141592653589793,"micros":1763634000123457}';
    expect((await finished(payload)).values[':result']).toEqual({ S: payload });
  });

  test('questions end the round and keep the arguments for the next', async () => {
    const payload = '{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}},"requestState":1}';
    const write = await finished(payload);
    expect(write.values).toMatchObject({
      ':status': { S: 'input_required' },
      ':asked': { S: payload },
      ':arguments': { S: input.arguments },
      ':dueAt': { N: '31000' },
    });
    checkPlaceholders(write);
  });

  test.each([
    ['{"inputRequests":{}}', 'InputRequestInvalid'],
    ['{"inputRequests":[]}', 'InputRequestInvalid'],
    ['{"inputRequests":null}', 'InputRequestInvalid'],
    ['{"inputRequests":{"a":5}}', 'InputRequestInvalid'],
    ['{"inputRequests":{"a":{"method":"elicitation/create"}}}', 'InputRequestInvalid'],
    ['{"inputRequests":{"a":{"method":"sampling/createMessage","params":{}}}}', 'InputNotSupported'],
    ['{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url"}}}}', 'InputNotSupported'],
    [
      `{"inputRequests":{"a":{"method":"elicitation/create","params":{}}},"requestState":"${'x'.repeat(240_000)}"}`,
      'InputRequestTooLarge',
    ],
  ])('a question that cannot be asked fails the task: %.60s (E-32)', async (payload, reason) => {
    const write = await finished(payload);
    expect(write.values[':status']).toEqual({ S: 'failed' });
    expect(JSON.parse(write.values[':error']?.S ?? '')).toMatchObject({ code: -32603, data: { reason } });
    checkPlaceholders(write);
  });

  // A character of every length in UTF-8, and two that need an escape within the text of arguments.
  test.each(['x', 'é', '中', '🙂', '"', '\\n'])(
    'what is asked leaves room for answers, in bytes: %j',
    async (character) => {
      const ask = async (bytes: number) => {
        const half = character.repeat(bytes / 2 / (Buffer.byteLength(JSON.stringify(JSON.stringify(character))) - 6));
        const args = JSON.stringify({ half });
        const inputRequests = { a: { method: 'elicitation/create', params: {} } };
        const asked = JSON.stringify({ inputRequests, requestState: half });
        const result = { Payload: asked };
        const { values } = await evaluate('finished.jsonata', { result }, 0, { ...input, arguments: args });
        return { status: values[':status']?.S, next: roundInput({ ...record, asked }, args) };
      };
      const record = create(
        { owner: 'o', taskId: 't' },
        { tool: 'x', ttl: 1, timeout: 1, accepts: [], legacy: false },
        0,
      );
      const fits = await ask(239_000);
      expect(fits).toMatchObject({ status: 'input_required', next: expect.any(String) });
      expect(limits.executionInput - Buffer.byteLength(fits.next ?? '')).toBeGreaterThan(20_000);
      expect(await ask(400_000)).toEqual({ status: 'failed', next: undefined });
    },
  );

  test('earlier answers take room, too', async () => {
    const payload = `{"inputRequests":{"a":{"method":"elicitation/create","params":{}}},"requestState":"${'x'.repeat(110_000)}"}`;
    const statusWith = async (answer: string) => {
      const Input = { ...input, inputResponses: { b: { action: 'accept', content: { answer } } } };
      return (await evaluate('finished.jsonata', { result: { Payload: payload } }, 0, Input)).values[':status'];
    };
    expect(await statusWith('y'.repeat(129_000))).toEqual({ S: 'input_required' });
    expect(await statusWith('y'.repeat(131_000))).toEqual({ S: 'failed' });
  });

  test('a function error fails the task with its type, without its message or stack (A-15)', async () => {
    const write = await finished('{"errorType":"TypeError","errorMessage":"secret","trace":["at x"]}', {
      FunctionError: 'Unhandled',
    });
    expect(JSON.parse(write.values[':error']?.S ?? '')).toEqual({
      code: -32603,
      message: 'The tool failed',
      data: { reason: 'TypeError' },
    });
    expect(JSON.stringify(write)).not.toContain('secret');
  });
});

describe('a crash of a tool that may be repeated', () => {
  const crash = '{"errorType":"Runtime.ExitError","errorMessage":"exit status 1"}';
  const attempt = (RetryCount: number, payload = crash) =>
    evaluate('finished.jsonata', { result: { Payload: payload, FunctionError: 'Unhandled' } }, RetryCount);

  test.each([0, 2, 8])(
    'is an error of the state, for its retrier to count, after %i attempts of any kind',
    async (n) => {
      await expect(attempt(n)).rejects.toMatchObject({
        code: 'D3137',
        message: 'The function crashed: Runtime.ExitError',
      });
    },
  );

  test.each([
    ['D3137: The function crashed: Runtime.ExitError', 'Runtime.ExitError'],
    ['D3137: The function crashed: SECRET', 'States.QueryEvaluationError'],
    ['', 'States.QueryEvaluationError'],
  ])(
    'after the last attempt the task fails with the name of the crash, and nothing else of its cause: %s',
    async (cause, reason) => {
      const Cause = `The JSONata expression '${text('finished.jsonata')}' threw an error during evaluation. ${cause}`;
      const write = await evaluate('run-failed.jsonata', {
        errorOutput: { Error: 'States.QueryEvaluationError', Cause },
      });
      expect(JSON.parse(write.values[':error']?.S ?? '')).toMatchObject({ data: { reason } });
    },
  );

  test('an exception is no crash: it fails the task at once', async () => {
    expect((await attempt(0, '{"errorType":"TypeError"}')).values[':status']).toEqual({ S: 'failed' });
  });
});

describe('run-failed.jsonata', () => {
  test.each([
    ['States.Timeout', 'The tool ran out of its time'],
    ['States.DataLimitExceeded', "The tool's result is too large: a workflow carries at most 256 KiB"],
    ['Whatever', 'The tool failed'],
  ])('%s', async (reason, message) => {
    const write = await evaluate('run-failed.jsonata', { errorOutput: { Error: reason } });
    expect(write.values[':statusMessage']).toEqual({ S: message });
    checkPlaceholders(write);
  });
});

describe('tool-event.jsonata and run-timeout.jsonata', () => {
  test('the function gets the contract, arguments digit for digit', async () => {
    expect(await evaluate('tool-event.jsonata', {})).toEqual({
      name: 'x',
      arguments: { n: 9007199254740991 },
      task: { taskId: 't', owner: 'o', table: 'tasks', results: 'results', round: 2, attempt: 1, deadline: 1_000 },
      accepts: ['elicitation/create'],
      inputResponses: { a: { action: 'accept' } },
      requestState: null,
    });
  });

  test('a run past its deadline still gets a legal timeout', async () => {
    expect(await evaluate('run-timeout.jsonata', {})).toBe(1);
  });
});

describe('definition', () => {
  test('side effects happen at most once: only surely unexecuted runs are retried, unless the tool allows more', () => {
    const retries = (repeatable: boolean) =>
      JSON.parse(definition(repeatable)).States.Run.Retry.map((retry: { ErrorEquals: string[] }) => retry.ErrorEquals);
    const named = (name: string) => `Lambda.${name}Exception`;
    const [unexecuted, ...others] = retries(false);
    expect(others).toEqual([]);
    expect(unexecuted).toEqual(expect.arrayContaining(['TooManyRequests', 'ResourceNotReady'].map(named)));
    const perhaps = ['Service', 'AWSLambda', 'Lambda', 'SdkClient', 'ClientExecutionTimeout'].map(named);
    expect(retries(true)[0]).toEqual([...unexecuted, ...perhaps]);
    expect([...perhaps, named('EFSIO')].filter((name) => unexecuted.includes(name))).toEqual([]);
    expect(retries(true)[1]).toEqual(['States.QueryEvaluationError']);
    expect(definition(false)).toContain('$value.errorType in []');
  });

  test('nothing is left to fill in but the substitutions of CloudFormation', () => {
    const text = definition(false);
    expect(text).not.toMatch(/<[a-z ]+(\.jsonata)?>/);
    expect(new Set(text.match(/\$\{\w+\}/g))).toEqual(
      new Set(['${FunctionArn}', '${ResultsBucket}', '${TableName}', '${ToolTimeoutSeconds}']),
    );
  });
});
