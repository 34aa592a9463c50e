import { expect } from 'vitest';
import { asks, completes, fails } from '../change.ts';
import { execution, type Row, type Workflow } from '../row.ts';

/** The result of the optimized integration: the payload is what the function's JSON says. */
const returns = (Payload: unknown) => ({ ExecutedVersion: '$LATEST', StatusCode: 200, Payload });
const envelope = (text: string, more: object = {}) => ({ mcpTask: 1, text, ...more });
const form = { method: 'elicitation/create', params: { message: '?' } };
const question = { inputRequests: { a: form }, requestState: 1 };
/** Fits into a mocked result, and no more into the change made of it. */
const almostTooLarge = 'x'.repeat(261_900);

const event = (attempt: number) => ({
  FunctionName: expect.stringContaining(':function:tool'),
  Payload: {
    name: 'x',
    arguments: { n: 9007199254740991 },
    task: {
      ...{ taskId: 't', owner: 'o', table: 'tasks', results: 'results', round: 2, attempt },
      ...{ deadline: execution.deadlineAt, envelope: 1 },
    },
    accepts: ['elicitation/create'],
    inputResponses: { a: { action: 'accept' } },
    requestState: null,
  },
});

const run = (workflow: Workflow) => ({ workflow, state: 'Run' }) as const;
const goesOn = { status: 'SUCCEEDED', nextState: 'Finish' } as const;
const caught = (error: string, catchIndex: number, output = fails(error)) =>
  ({ status: 'CAUGHT_ERROR', error, catchIndex, nextState: 'Finish', output }) as const;
const again = (error: string, retryIndex: number) => ({ status: 'RETRIABLE', error, retryIndex }) as const;
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

const THROTTLED = 'Lambda.TooManyRequestsException';
const BUSY = fails(THROTTLED, 'The tool is busy: it was throttled on every try');
const OUT_OF_TIME = 'The tool ran out of its time';
const TOO_LARGE = "The tool's result is too large: a workflow carries at most 256 KiB";
const MESSAGES: Readonly<Record<string, string>> = {
  'Sandbox.Timedout': OUT_OF_TIME,
  'Function.ResponseSizeTooLarge': "The tool's result is too large: a function returns at most 6 MB",
};

const result = (title: string, payload: unknown, output: unknown): Row => ({
  ...{ title, ...run('tool'), result: returns(payload), expected: { ...goesOn, output } },
});
const PERHAPS_EXECUTED = [
  'ServiceException',
  'AWSLambdaException',
  'SdkClientException',
  'ClientExecutionTimeoutException',
];

/** `Run` of a tool that is a function. */
export const runRows: readonly Row[] = [
  {
    title: 'the function gets the event of the contract',
    ...{ ...run('tool'), result: returns({}) },
    expected: { ...goesOn, sent: event(0), output: completes('{}') },
  },
  {
    title: 'arguments are evaluated again for every attempt: the event says which one it is',
    ...{ ...run('tool'), earlier: times(3, THROTTLED), result: returns('{}') },
    expected: { ...goesOn, sent: event(3) },
  },
  result(
    'the text of an envelope is stored as it is',
    envelope('{"id":9007199254740993,"pi":3.14159265358979323846,"e":1E400,"t":"\\ud800 \\u2028 é 🙂"}'),
    completes('{"id":9007199254740993,"pi":3.14159265358979323846,"e":1E400,"t":"\\ud800 \\u2028 é 🙂"}'),
  ),
  result(
    'an envelope with a result that is its own error',
    envelope('{"content":[],"isError":true}', { isError: true }),
    completes('{"content":[],"isError":true}', true),
  ),
  result(
    'an envelope with questions',
    envelope(JSON.stringify(question), { asks: true }),
    asks(JSON.stringify(question), execution.arguments, execution.deadlineAt),
  ),
  result(
    'a plain result that is its own error',
    { content: [], isError: true },
    completes('{"content":[],"isError":true}', true),
  ),
  result('a plain result rounds numbers to 15 digits', { id: 9007199254740991 }, completes('{"id":9007199254740990}')),
  result('isError that is no boolean', { isError: 'yes' }, completes('{"isError":"yes"}')),
  result('text', 'a "text" A é 🙂', completes('"a \\"text\\" A é 🙂"')),
  result('a list', [1, [2]], completes('[1,[2]]')),
  result('an empty list', [], completes('[]')),
  result('a list of one text', ['a'], completes('["a"]')),
  result('null', null, completes('null')),
  result(
    'plain questions, which readers judge',
    question,
    asks(JSON.stringify(question), execution.arguments, execution.deadlineAt),
  ),
  ...['TypeError', 'Runtime.ExitError', 'Lambda.Unknown', 'Sandbox.Timedout', 'Function.ResponseSizeTooLarge'].map(
    (error): Row => ({
      title: `${error} of the function ends the task: its name and nothing else (A-15)`,
      ...{ ...run('tool'), error, cause: '{"errorMessage":"secret","trace":["at x"]}' },
      expected: caught(error, 1, fails(error, MESSAGES[error])),
    }),
  ),
  {
    title: 'Output over 256 KiB: States.DataLimitExceeded, caught by its name',
    ...{ ...run('tool'), result: returns(almostTooLarge) },
    expected: caught('States.DataLimitExceeded', 0, fails('States.DataLimitExceeded', TOO_LARGE)),
  },
  {
    title: 'a payload over 256 KiB',
    ...{ ...run('tool'), error: 'States.DataLimitExceeded' },
    expected: caught('States.DataLimitExceeded', 0, fails('States.DataLimitExceeded', TOO_LARGE)),
  },
  {
    title: 'the timeout of Run',
    ...{ ...run('tool'), error: 'States.Timeout' },
    expected: caught('States.Timeout', 1, fails('States.Timeout', OUT_OF_TIME)),
  },
  ...[...PERHAPS_EXECUTED, 'ResourceNotFoundException'].map((name) => ({
    title: `Lambda.${name}: it may have been executed, or never will be`,
    ...{ ...run('tool'), error: `Lambda.${name}` },
    expected: caught(`Lambda.${name}`, 1),
  })),
  {
    title: 'no catcher takes States.Runtime: the reconciler settles the task (row 13)',
    ...{ ...run('tool'), error: 'States.Runtime' },
    expected: { status: 'FAILED', error: 'States.Runtime' },
  },
  ...[0, 5].map((retries) => ({
    title: `throttled, after ${retries} retries: surely not executed`,
    ...{ ...run('tool'), error: THROTTLED, retries },
    expected: again(THROTTLED, 0),
  })),
  ...[
    ...['ResourceConflict', 'ResourceNotReady', 'CodeArtifactUserPending', 'SnapStartNotReady', 'SnapStartTimeout'],
    ...['EC2Throttled', 'Ec2Throttled', 'ENILimitReached', 'EniLimitReached', 'ENINotReady', 'EniNotReady'],
    ...['SubnetIPAddressLimitReached', 'SubnetIpAddressLimitReached', 'EFSMountConnectivity', 'EfsMountConnectivity'],
    ...['EFSMountTimeout', 'EfsMountTimeout', 'S3FilesMountConnectivity', 'S3FilesMountTimeout'],
  ].map((name) => ({
    title: `${name}: the function is not there yet, so surely not executed`,
    ...{ ...run('tool'), error: `Lambda.${name}Exception` },
    expected: again(`Lambda.${name}Exception`, 0),
  })),
  {
    title: 'throttled on every try',
    ...{ ...run('tool'), error: THROTTLED, retries: 600 },
    expected: caught(THROTTLED, 1, BUSY),
  },
  {
    title: 'an attempt after the deadline is not made',
    ...{ ...run('tool'), more: { deadlineAt: Date.now() }, result: returns(null) },
    expected: caught('States.QueryEvaluationError', 1, fails('States.Timeout', OUT_OF_TIME)),
  },

  {
    title: 'a result of a tool that may be repeated',
    ...{ ...run('repeatable'), result: returns({}) },
    expected: { ...goesOn, output: completes('{}') },
  },
  {
    title: 'throttled, of a tool that may be repeated',
    ...{ ...run('repeatable'), error: THROTTLED },
    expected: again(THROTTLED, 0),
  },
  ...PERHAPS_EXECUTED.map((name) => ({
    title: `Lambda.${name} of a tool that may be repeated`,
    ...{ ...run('repeatable'), error: `Lambda.${name}` },
    expected: again(`Lambda.${name}`, 1),
  })),
  {
    title: 'Lambda fails on every try of a tool that may be repeated',
    ...{ ...run('repeatable'), error: 'Lambda.ServiceException', retries: 6 },
    expected: caught('Lambda.ServiceException', 1),
  },
  ...['Runtime.ExitError', 'Lambda.Unknown'].flatMap((error) => [
    ...[0, 1].map((retries) => ({
      title: `${error} of a tool that may be repeated, after ${retries} retries`,
      ...{ ...run('repeatable'), error, retries },
      expected: again(error, 2),
    })),
    {
      title: `${error} for the third time: the task fails with its reason`,
      ...{ ...run('repeatable'), error, retries: 2 },
      expected: caught(error, 1),
    },
  ]),
  ...[1, 6].map((tries) => ({
    title: `a crash after ${tries} throttles: each retrier counts its own`,
    ...{ ...run('repeatable'), error: 'Runtime.ExitError', earlier: times(tries, THROTTLED), retrierRetryCount: 0 },
    expected: again('Runtime.ExitError', 2),
  })),
  {
    title: 'an exception of a tool that may be repeated is no crash',
    ...{ ...run('repeatable'), error: 'TypeError' },
    expected: caught('TypeError', 1),
  },
  {
    title: 'the timeout of Run of a tool that may be repeated',
    ...{ ...run('repeatable'), error: 'States.Timeout' },
    expected: caught('States.Timeout', 1, fails('States.Timeout', OUT_OF_TIME)),
  },
  {
    title: 'a payload over 256 KiB of a tool that may be repeated',
    ...{ ...run('repeatable'), error: 'States.DataLimitExceeded' },
    expected: caught('States.DataLimitExceeded', 0, fails('States.DataLimitExceeded', TOO_LARGE)),
  },
];
