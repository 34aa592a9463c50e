import { expect } from 'vitest';
import { asks, completes, fails } from '../change.ts';
import { execution, type Row, type Workflow } from '../row.ts';

/** What Lambda answers to an invocation: the payload is text. */
const returns = (Payload: string) => ({ ExecutedVersion: '$LATEST', StatusCode: 200, Payload });
const throws = (Payload: string) => ({ ...returns(Payload), FunctionError: 'Unhandled' });
const crash = '{"errorType":"Runtime.ExitError","errorMessage":"exit status 1"}';
const question = (request: object, more: object = {}) => JSON.stringify({ inputRequests: { a: request }, ...more });
const form = { method: 'elicitation/create', params: { message: '?' } };
/** Fits into a mocked result, and no more into the change made of it. */
const almostTooLarge = JSON.stringify('x'.repeat(261_900));

const event = (attempt: number) => ({
  FunctionName: expect.stringContaining(':function:tool'),
  Payload: {
    name: 'x',
    arguments: { n: 9007199254740991 },
    task: {
      ...{ taskId: 't', owner: 'o', table: 'tasks', results: 'results', round: 2, attempt },
      deadline: execution.deadlineAt,
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
const UNEVALUATED = 'States.QueryEvaluationError';

const result = (title: string, Payload: string, output: unknown): Row => ({
  ...{ title, ...run('tool'), result: returns(Payload), expected: { ...goesOn, output } },
});
const refusal = (title: string, payload: string, reason: string, message: string, more = {}) =>
  result(title, payload, fails(reason, message, more));

/** `Run` of a tool that is a function. */
export const runRows: readonly Row[] = [
  {
    title: 'the function gets the event of the contract',
    ...{ ...run('tool'), result: returns('{}') },
    expected: { ...goesOn, sent: event(0), output: completes('{}') },
  },
  {
    title: 'arguments are evaluated again for every attempt: the event says which one it is',
    ...{ ...run('tool'), earlier: times(3, THROTTLED), result: returns('{}') },
    expected: { ...goesOn, sent: event(3) },
  },
  result('numbers of a result are not rounded', '{"id":9007199254740993}', completes('{"id":9007199254740993}')),
  result(
    'nor their digits',
    '{"pi":3.14159265358979323846,"e":1E400}',
    completes('{"pi":3.14159265358979323846,"e":1E400}'),
  ),
  result(
    'a result that is its own error',
    '{"content":[],"isError":true}',
    completes('{"content":[],"isError":true}', true),
  ),
  result('isError that is no boolean', '{"isError":"yes"}', completes('{"isError":"yes"}')),
  result('text', '"a \\"text\\" \\u0041 é 🙂"', completes('"a \\"text\\" \\u0041 é 🙂"')),
  result('a list', '[1,[2]]', completes('[1,[2]]')),
  result('an empty list', '[]', completes('[]')),
  result('null', 'null', completes('null')),
  result(
    'questions',
    question(form, { requestState: 1 }),
    asks(question(form, { requestState: 1 }), execution.arguments, execution.deadlineAt),
  ),
  refusal(
    'questions of a kind that the client did not declare (E-32)',
    question({ method: 'sampling/createMessage', params: {} }),
    'InputNotSupported',
    'The tool needs input of a kind that the client did not declare it can give',
    { kinds: ['sampling/createMessage'] },
  ),
  refusal(
    'a question without parameters',
    question({ method: 'elicitation/create' }),
    'InputRequestInvalid',
    'The tool asked for input in a form that is not valid',
  ),
  refusal(
    'questions with too much state',
    question(form, { requestState: '中'.repeat(80_000) }),
    'InputRequestTooLarge',
    'The tool asked for input with too much state: questions, state, arguments and earlier answers may take 240 KB together',
  ),
  {
    title: 'FunctionError: the type of the error and nothing else (A-15)',
    ...{ ...run('tool'), result: throws('{"errorType":"TypeError","errorMessage":"secret","trace":["at x"]}') },
    expected: { ...goesOn, output: fails('TypeError') },
  },
  {
    title: 'FunctionError without a type',
    ...{ ...run('tool'), result: throws('"secret"') },
    expected: { ...goesOn, output: fails('Lambda.Unknown') },
  },
  {
    title: 'FunctionError of a function that ran out of its time',
    ...{ ...run('tool'), result: throws('{"errorType":"Sandbox.Timedout","errorMessage":"Task timed out"}') },
    expected: { ...goesOn, output: fails('Sandbox.Timedout', OUT_OF_TIME) },
  },
  {
    title: 'a payload that $parse cannot read',
    ...{ ...run('tool'), result: returns('no JSON') },
    expected: caught(UNEVALUATED, 1),
  },
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
  ...['Lambda.ServiceException', 'Lambda.SdkClientException', 'Lambda.ResourceNotFoundException'].map((error) => ({
    title: `${error}: it may have been executed, or never will be`,
    ...{ ...run('tool'), error },
    expected: caught(error, 1),
  })),
  {
    title: 'States.Runtime is caught by nobody: the reconciler settles the task (row 13)',
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
    ...{ ...run('tool'), error: THROTTLED, retries: 6 },
    expected: caught(THROTTLED, 1, BUSY),
  },
  {
    title: 'a crash of a tool that may not be repeated',
    ...{ ...run('tool'), result: throws(crash) },
    expected: { ...goesOn, output: fails('Runtime.ExitError') },
  },

  ...[THROTTLED, 'Lambda.ServiceException', 'Lambda.AWSLambdaException', 'Lambda.SdkClientException'].map((error) => ({
    title: `${error} of a tool that may be repeated`,
    ...{ ...run('repeatable'), error },
    expected: again(error, 0),
  })),
  {
    title: 'Lambda fails on every try of a tool that may be repeated',
    ...{ ...run('repeatable'), error: 'Lambda.ServiceException', retries: 6 },
    expected: caught('Lambda.ServiceException', 1),
  },
  ...[0, 1].map((retries) => ({
    title: `a crash of a tool that may be repeated, after ${retries} retries: $error in Output is retried`,
    ...{ ...run('repeatable'), result: throws(crash), retries },
    expected: again(UNEVALUATED, 1),
  })),
  {
    title: 'the third crash: the task fails with its reason',
    ...{ ...run('repeatable'), result: throws(crash), retries: 2 },
    expected: caught(UNEVALUATED, 1, fails('Runtime.ExitError')),
  },
  ...[1, 6].map((tries) => ({
    title: `a crash after being throttled ${tries} times: each retrier counts its own`,
    ...{ ...run('repeatable'), result: throws(crash), earlier: times(tries, THROTTLED), retrierRetryCount: 0 },
    expected: again(UNEVALUATED, 1),
  })),
  {
    title: 'an exception of a tool that may be repeated is no crash',
    ...{ ...run('repeatable'), result: throws('{"errorType":"TypeError"}') },
    expected: { ...goesOn, output: fails('TypeError') },
  },
  {
    title: 'an unreadable payload of a tool that may be repeated, on every try',
    ...{ ...run('repeatable'), result: returns(''), retries: 2 },
    expected: caught(UNEVALUATED, 1),
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
