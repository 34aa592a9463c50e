import jsonata from 'jsonata';
import { describe, expect, test } from 'vitest';
import { ENGINE_NAMES } from '../../functions/tasks/engines.ts';
import { ID_LETTERS } from '../../functions/tasks/ids.ts';
import { limits } from '../../functions/tasks/limits.ts';
import type { Status } from '../../functions/tasks/record.ts';
import { statusShard, statusShards } from '../../functions/tasks/table/status-index.ts';
import type { ToolEvent } from '../../functions/tasks/tool-contract.ts';
import { enveloped } from '../../functions/tool/envelope.ts';
import { definition } from '../../lib/workflow/definition.ts';
import { execution as input } from '../aws/row.ts';
import { evaluate } from './expression.ts';

interface Write {
  update: string;
  names: object;
  values: Record<string, { S: string }>;
}

/** @param payload the function's JSON as the optimized integration parses it */
const finished = (payload: unknown): Promise<Write> =>
  evaluate('function-finished.jsonata', { result: { Payload: payload } });
const returned = (value: unknown) => enveloped({ task: { envelope: 1 } } as ToolEvent, value as object);

/** The write's names and placeholders must match its expression: DynamoDB refuses unused ones. */
function checkPlaceholders(write: Write) {
  const finish = JSON.parse(definition('standard')).States.Finish.Arguments;
  const text = `${write.update} ${finish.ConditionExpression}`;
  expect(new Set(text.match(/#\w+/g))).toEqual(new Set(Object.keys(write.names)));
  expect(finish.ExpressionAttributeValues).toContain(`$millis() - ${limits.lateWrite})`);
  expect(new Set(text.match(/:\w+/g))).toEqual(new Set([...Object.keys(write.values), ':latest']));
}

describe('function-finished.jsonata: an envelope', () => {
  const awkward = ['\u2028', '\ud800', '🙂', '"\\', '{% $x %}', '\u0000', '9007199254740993'];
  test.each([
    [{ id: 9007199254740991, big: '12345678901234567890', pi: Math.PI }, false],
    [{ content: [], isError: true }, true],
    [{ isError: 'yes' }, false],
    [awkward, false],
    [Object.fromEntries(awkward.map((key) => [key, key])), false],
    ['text', false],
    [null, false],
    [undefined, false],
    [0, false],
    [[], false],
    [[[1]], false],
  ])('its text is stored unchanged: %j', async (value, isError) => {
    const write = await finished(JSON.parse(JSON.stringify(returned(value))));
    expect(write.values).toMatchObject({
      ':status': { S: 'completed' },
      ':result': { S: JSON.stringify(value) ?? 'null' },
      ':isError': { BOOL: isError },
      ':inRound': { N: '2' },
    });
    checkPlaceholders(write);
  });

  test('digits that no double holds are kept, from any language', async () => {
    const text = '{"id":12345678901234567890,"pi":3.14159265358979323846,"huge":1E400}';
    expect((await finished({ mcpTask: 1, text })).values[':result']).toEqual({ S: text });
  });

  test('questions end the round and keep the arguments for the next', async () => {
    const questions = { inputRequests: { a: { method: 'roots/list' } }, requestState: 1 };
    const write = await finished(returned(questions));
    expect(write.values).toMatchObject({
      ':status': { S: 'input_required' },
      ':asked': { S: JSON.stringify(questions) },
      ':arguments': { S: input.arguments },
      ':dueAt': { N: String(input.deadlineAt + 30_000) },
    });
    checkPlaceholders(write);
  });

  test.each([
    { mcpTask: 1 },
    { mcpTask: 2, text: '1' },
    { mcpTask: 1, text: 5 },
    { text: '1' },
    { mcpTask: '1', text: '1' },
  ])('a value that only resembles an envelope is a result: %j', async (payload) => {
    expect((await finished(payload)).values[':result']).toEqual({ S: JSON.stringify(payload) });
  });
});

test('each status goes to the partition of the index in which the server searches for it', async () => {
  for (const letter of [...ID_LETTERS, 'i', '-']) {
    const Input = { ...input, taskId: `a${letter}` };
    const ends = [{}, { inputRequests: {} }].map((Payload) =>
      evaluate('function-finished.jsonata', { result: { Payload } }, { Input }),
    );
    const errors = [evaluate('run-failed.jsonata', { errorOutput: { Error: 'E' } }, { Input })];
    for (const { values } of (await Promise.all([...ends, ...errors])) as Write[]) {
      const status = values[':status']?.S as Status;
      expect(values[':statusShard']?.S).toBe(statusShard(status, Input.taskId));
      expect(statusShards(status)).toContain(values[':statusShard']?.S);
    }
  }
});

describe('function-finished.jsonata: a plain function', () => {
  test.each([
    ['text', '"text"', false],
    ['"quoted" \\ \n é 🙂', '"\\"quoted\\" \\\\ \\n é 🙂"', false],
    ['', '""', false],
    [[], '[]', false],
    [[1, [2]], '[1,[2]]', false],
    [['one'], '["one"]', false],
    [{ content: [], isError: true }, '{"content":[],"isError":true}', true],
    [[{ isError: true }], '[{"isError":true}]', false],
    [null, 'null', false],
    [undefined, 'null', false],
    [false, 'false', false],
    [-0.5, '-0.5', false],
  ])('%j is stored as %s', async (payload, text, isError) => {
    const write = await finished(payload);
    expect(write.values).toMatchObject({
      ':status': { S: 'completed' },
      ':result': { S: text },
      ':isError': { BOOL: isError },
    });
    checkPlaceholders(write);
  });

  test('its numbers keep 15 significant digits', async () => {
    const { values } = await finished({ id: 9007199254740991, pi: Math.PI });
    expect(values[':result']).toEqual({ S: '{"id":9007199254740990,"pi":3.14159265358979}' });
  });

  test.each([
    { inputRequests: { a: { method: 'roots/list' } }, requestState: 1 },
    { inputRequests: {} },
    { inputRequests: null },
    { inputRequests: ['a'] },
  ])('its questions are stored unchecked: %j', async (payload) => {
    const write = await finished(payload);
    expect(write.values).toMatchObject({
      ':status': { S: 'input_required' },
      ':asked': { S: JSON.stringify(payload) },
    });
    checkPlaceholders(write);
  });
});

describe('run-failed.jsonata', () => {
  test.each([
    ['States.Timeout', 'The tool ran out of its time'],
    ['States.DataLimitExceeded', "The tool's result is too large: a workflow carries at most 256 KiB"],
    ['TypeError', 'The tool failed'],
    ['Sandbox.Timedout', 'The tool ran out of its time'],
    ['constructor', 'The tool failed'],
  ])('%s fails the task with its name, without its cause (A-15)', async (reason, message) => {
    const errorOutput = { Error: reason, Cause: 'The secret: {"errorMessage":"secret","trace":[]}' };
    const write: Write = await evaluate('run-failed.jsonata', { errorOutput });
    expect(write.values[':statusMessage']).toEqual({ S: message });
    expect(JSON.parse(write.values[':error']?.S ?? '')).toEqual({ code: -32603, message, data: { reason } });
    expect(JSON.stringify(write)).not.toContain('secret');
    checkPlaceholders(write);
  });

  test.each([
    [-10, 'States.Timeout'],
    [5_000, 'States.QueryEvaluationError'],
  ])('an expression that failed %i ms before the deadline: %s', async (left, reason) => {
    const errorOutput = { Error: 'States.QueryEvaluationError', Cause: '' };
    const Input = { ...input, deadlineAt: Date.now() + left };
    const write: Write = await evaluate('run-failed.jsonata', { errorOutput }, { Input });
    expect(JSON.parse(write.values[':error']?.S ?? '')).toMatchObject({ data: { reason } });
  });
});

describe('fits.jsonata and outcome-event.jsonata', () => {
  const { inline } = limits.result;
  const fits = async (text: string) =>
    evaluate('store/fits.jsonata', { input: { values: { ':result': { S: text } } } });

  test.each([
    ['x', 1],
    ['\n', 1],
    ['é', 2],
    ['я', 2],
    ['中', 3],
    ['\u2028', 3],
  ])('a record holds results of %j up to the limit in bytes of UTF-8, and not more', async (letter, bytes) => {
    const most = Math.floor(inline / bytes);
    expect(await fits(letter.repeat(most))).toBe(true);
    expect(await fits(`${letter.repeat(most)}xx${'x'.repeat(bytes)}`)).toBe(false);
  });

  test('the extra bytes of an emoji are bounded', async () => {
    expect(await fits('🙂'.repeat(inline / 3 + 1))).toBe(false);
    expect(await fits(`${'a'.repeat(100_000)}🙂`)).toBe(false);
  });

  const asking = (bytes: number) =>
    finished(returned({ inputRequests: { a: { method: 'roots/list', params: { x: 'x'.repeat(bytes) } } } }));

  test('a failure fits, and so do small questions; large ones do not', async () => {
    const fitting = (change: Write) => evaluate('store/fits.jsonata', { input: change });
    expect(
      await fitting(await evaluate('run-failed.jsonata', { errorOutput: { Error: 'TypeError', Cause: '' } })),
    ).toBe(true);
    expect([await fitting(await asking(9)), await fitting(await asking(inline))]).toEqual([true, false]);
  });

  test('the function gets large questions with the arguments that the record keeps', async () => {
    const change = await asking(inline);
    const { ':asked': asked, ':arguments': args } = change.values as Record<string, { S: string }>;
    expect(await evaluate('store/outcome-event.jsonata', { input: change })).toMatchObject({
      outcome: { text: asked?.S, asks: true, isError: false, arguments: args?.S },
    });
  });

  test('the function gets the text to the digit, whether it asks, and the note of Finish', async () => {
    const text = `{"id":12345678901234567890,"x":"${'x'.repeat(inline)}"}`;
    const change = await finished({ mcpTask: 1, text, isError: true });
    expect(await evaluate('store/outcome-event.jsonata', { input: change })).toEqual({
      outcome: { owner: 'o', taskId: 't', round: 2, text, isError: true, asks: false, retries: 1 },
    });
  });

  test('Finish writes only results that fit: otherwise its expression has no value', async () => {
    const { Finish } = JSON.parse(definition('standard')).States;
    const [, expression = ''] = /^\{%(.*)%\}$/.exec(Finish.Arguments.ExpressionAttributeValues) ?? [];
    const valuesOf = (change: Write) => jsonata(expression).evaluate(undefined, { states: { input: change } });
    expect(await valuesOf(await finished('x'))).toMatchObject({ ':result': { S: '"x"' } });
    expect(await valuesOf(await finished('x'.repeat(inline)))).toBeUndefined();
    expect(Finish.Catch.map(({ Next }: { Next: string }) => Next)).toEqual(['Superseded', 'Store']);
  });
});

describe('function-event.jsonata and run-timeout.jsonata', () => {
  test('the function gets the contract, arguments digit for digit, and may return an envelope', async () => {
    const task = { taskId: 't', owner: 'o', table: 'tasks', results: 'results', round: 2, attempt: 1 };
    expect(await evaluate('function-event.jsonata', {})).toEqual({
      name: 'x',
      arguments: { n: 9007199254740991 },
      task: { ...task, deadline: input.deadlineAt, envelope: 1, maxTtl: '${MaxTtl}' },
      accepts: ['elicitation/create'],
      inputResponses: { a: { action: 'accept' } },
      requestState: null,
    });
  });

  test.each([
    [100_500, 100],
    [30_500, 30],
    [1_500, 1],
    [900, 1],
    [-5_000, undefined],
  ])('%i ms before the deadline a run gets %s seconds', async (left, seconds) => {
    const Input = { ...input, deadlineAt: Date.now() + left };
    expect(await evaluate('run-timeout.jsonata', {}, { Input })).toBe(seconds);
  });
});

describe('definition', () => {
  test.each(ENGINE_NAMES.map(definition))(
    'no expression depends on differences of engines, and none throws on purpose',
    (text) => {
      expect(text).not.toMatch(/\$match\([^)]*,\s*\d+\)|D\d{4}|\$error\(|\$encodeUrlComponent|aws-sdk:lambda/);
    },
  );

  test('the deadlines of the workflow come from limits.ts', () => {
    const { TimeoutSeconds, States } = JSON.parse(definition('standard'));
    expect(States.Run.Output).toContain(`$x.deadlineAt + ${limits.deadlineGrace})`);
    expect(JSON.stringify(States.Finish.Arguments)).toContain(`$string($millis() - ${limits.lateWrite})`);
    // The longest execution of Step Functions: a year.
    expect([TimeoutSeconds, JSON.parse(definition('machine')).TimeoutSeconds]).toEqual([31_536_000, 31_536_000]);
  });

  test('nothing is left to fill in but the substitutions of CloudFormation', () => {
    const text = definition('standard');
    expect(text).not.toMatch(/<[a-zA-Z -]+(\.jsonata)?>/);
    expect(new Set(text.match(/\$\{\w+\}/g))).toEqual(
      new Set([
        '${Functions}',
        '${RepeatableTools}',
        '${OutcomeFunctionArn}',
        '${ResultsBucket}',
        '${MaxTtl}',
        '${SignalsUrl}',
        '${TableName}',
      ]),
    );
  });
});
