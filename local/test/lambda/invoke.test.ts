import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { errorOf, useBench } from './fixtures.ts';

const bench = useBench();

describe('a handler', () => {
  it('returns a value from an async function', async () => {
    const lambda = bench.open([bench.define('async', 'exports.handler = async (event) => ({ got: event });')]);
    await expect(lambda.invoke('async', '{"a":[1,"ü"]}')).resolves.toEqual({
      statusCode: 200,
      payload: '{"got":{"a":[1,"ü"]}}',
      executedVersion: '$LATEST',
    });
  });

  it('may be a plain function or take a callback, with a note that nodejs24.x refuses callbacks', async () => {
    const lines: string[] = [];
    const lambda = bench.open(
      [
        bench.define('plain', 'exports.handler = (event) => event.n + 1;'),
        bench.define(
          'callback',
          'exports.handler = (event, context, done) => { setTimeout(done, 5, event.fail, event.n); };',
        ),
      ],
      { onLog: (_name, line) => lines.push(line) },
    );
    expect((await lambda.invoke('plain', '{"n":1}')).payload).toBe('2');
    expect((await lambda.invoke('callback', '{"n":3}')).payload).toBe('3');
    const failed = errorOf(await lambda.invoke('callback', '{"fail":"no luck"}'));
    expect(failed).toEqual({ errorType: 'string', errorMessage: 'no luck', trace: [] });
    expect(lines.join()).toContain('nodejs24.x runtime refuses');
  });

  it('does not begin before the promise of onWorker resolves', async () => {
    const lambda = bench.open([bench.define('when', 'exports.handler = async () => Date.now();')]);
    await lambda.invoke('when', '{}');
    const kept = Promise.withResolvers<void>();
    const invoked = lambda.invoke('when', '{}', { onWorker: () => kept.promise });
    await sleep(30);
    const released = Date.now();
    kept.resolve();
    expect(Number((await invoked).payload)).toBeGreaterThanOrEqual(released);
  });

  it('answers with exactly the text that JSON.stringify made', async () => {
    const source = `exports.handler = async (event) => ({
      nothing: undefined, lone: JSON.stringify('\\ud800') , text: '\\u2028 "\\\\ ü €', big: 1e21, date: new Date(0), nested: { toJSON: () => 7 },
    });`;
    const lambda = bench.open([bench.define('exact', source)]);
    const expected = JSON.stringify({
      lone: '"\\ud800"',
      text: '\u2028 "\\ ü €',
      big: 1e21,
      date: new Date(0),
      nested: 7,
    });
    expect((await lambda.invoke('exact', '{}')).payload).toBe(expected);
  });

  it('answers null for undefined, and fails plainly for what JSON cannot hold', async () => {
    const source = `exports.handler = async (event) => { if (event.loop) { const a = {}; a.a = a; return a; } };`;
    const lambda = bench.open([bench.define('unserializable', source)]);
    expect((await lambda.invoke('unserializable', '{}')).payload).toBe('null');
    const error = errorOf(await lambda.invoke('unserializable', '{"loop":true}'));
    expect(error).toMatchObject({
      errorType: 'Runtime.JSONStringifyError',
      errorMessage: 'Unable to stringify response body',
    });
  });

  it('gets an empty object for an empty payload', async () => {
    const lambda = bench.open([bench.define('echo', 'exports.handler = async (event) => event;')]);
    expect((await lambda.invoke('echo', '')).payload).toBe('{}');
  });

  it('keeps its module between invocations: a warm start', async () => {
    const source = 'let calls = 0; exports.handler = async () => ++calls;';
    const lambda = bench.open([bench.define('warm', source)]);
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push((await lambda.invoke('warm', '{}')).payload);
    expect(answers).toEqual(['1', '2', '3']);
    expect(lambda.workers()).toEqual([{ functionName: 'warm', count: 1, busy: 0 }]);
  });
});

describe('the context and the environment', () => {
  const source = `exports.handler = async (event, context) => ({
    ...context, remaining: context.getRemainingTimeInMillis(), env: process.env, awslambda: typeof awslambda,
  });`;

  it('are the same as in Lambda', async () => {
    const spec = bench.define('context', source, { timeoutSeconds: 900, memoryMb: 256, environment: { OWN: 'yes' } });
    const lambda = bench.open([spec]);
    const { env, remaining, awsRequestId, ...context } = JSON.parse((await lambda.invoke('context', '{}')).payload);
    expect(context).toEqual({
      awslambda: 'object',
      callbackWaitsForEmptyEventLoop: true,
      functionName: 'context',
      functionVersion: '$LATEST',
      invokedFunctionArn: spec.arn,
      memoryLimitInMB: '256',
      logGroupName: '/aws/lambda/context',
      logStreamName: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/),
    });
    expect(awsRequestId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(remaining).toBeGreaterThan(600_000);
    expect(remaining).toBeLessThanOrEqual(900_000);
    expect(env).toEqual({
      OWN: 'yes',
      AWS_SESSION_TOKEN: expect.stringMatching(/^context-\d+$/),
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
      AWS_LAMBDA_FUNCTION_NAME: 'context',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_LAMBDA_LOG_FORMAT: 'Text',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/context',
      AWS_LAMBDA_LOG_STREAM_NAME: context.logStreamName,
      LAMBDA_TASK_ROOT: spec.codePath,
      _HANDLER: 'index.handler',
      TZ: ':UTC',
    });
  });

  it('let the variables of the caller win', async () => {
    const lambda = bench.open([bench.define('override', source, { environment: { TZ: 'Asia/Tokyo' } })]);
    expect(JSON.parse((await lambda.invoke('override', '{}')).payload).env.TZ).toBe('Asia/Tokyo');
  });

  it('leave out NODE_OPTIONS that a thread cannot take', async () => {
    const lines: string[] = [];
    const spec = bench.define('options', 'exports.handler = async () => process.env.NODE_OPTIONS;', {
      environment: { NODE_OPTIONS: '--use-openssl-ca' },
    });
    const lambda = bench.open([spec], { onLog: (_name, line) => lines.push(line) });
    expect((await lambda.invoke('options', '{}')).payload).toBe('null');
    expect(lines.join()).toContain('--use-openssl-ca');
  });
});

describe('the log', () => {
  it('has every line with its function, stream and event, before the result is there', async () => {
    const lines: unknown[] = [];
    const source = `exports.handler = async (_, { awsRequestId }) => {
      console.log('one\\ntwo'); console.error('oops'); process.stdout.write('pa'); process.stdout.write('rt\\n');
      await new Promise((resolve) => process.stdout.write('called back\\n', resolve));
      return awsRequestId;
    };`;
    const lambda = bench.open([bench.define('talk', source)], { onLog: (...args) => lines.push(args) });
    const id: string = JSON.parse((await lambda.invoke('talk', '{}')).payload);
    expect(lines).toEqual([
      ['talk', 'one', 'stdout', id],
      ['talk', 'two', 'stdout', id],
      ['talk', 'oops', 'stderr', id],
      ['talk', 'part', 'stdout', id],
      ['talk', 'called back', 'stdout', id],
    ]);
  });
});
