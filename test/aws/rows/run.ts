import { expect } from 'vitest';
import { asks, completes, fails } from '../change.ts';
import { execution, type Row, type Workflow } from '../row.ts';

/** The result of the optimized integration: the payload is what the function's JSON says. */
const returns = (Payload: unknown) => ({ ExecutedVersion: '$LATEST', StatusCode: 200, Payload });
const envelope = (text: string, more: object = {}) => ({ mcpTask: 1, text, ...more });
const form = { method: 'elicitation/create', params: { message: '?' } };
const question = { inputRequests: { a: form }, requestState: 1 };
/** A size that fits into a mocked result, but not into the change made of it. */
const almostTooLarge = 'x'.repeat(261_900);

const event = (attempt: number) => ({
  FunctionName: expect.stringContaining(':function:tool'),
  Payload: {
    name: 'x',
    arguments: { n: 9007199254740991 },
    task: {
      ...{ taskId: 't', owner: 'o', table: 'tasks', results: 'results', round: 2, attempt },
      ...{ deadline: execution.deadlineAt, envelope: 1, maxTtl: '?' },
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
interface Counts {
  readonly tries: number;
  readonly crashes?: number;
  readonly losses?: number;
}
/** Another try after a wait of at most this many seconds. */
const again = (error: string, counts: Counts, longest: number) => {
  const wait = expect.toSatisfy((seconds) => Number.isInteger(seconds) && seconds >= 1 && seconds <= longest);
  return { ...caught(error, 0), nextState: 'RunFailed', output: { crashes: 0, losses: 0, ...counts, wait } };
};
const ends = (error: string, output = fails(error)) => ({ ...caught(error, 0, output), nextState: 'RunFailed' });
/** `Run` after tries that failed. */
const after = (tries: number, counts: Partial<Counts> = {}) => ({
  input: { tries, crashes: 0, losses: 0, ...counts, wait: 0 },
});
/** The errors that Lambda passes on from a Node.js process and a Python process. */
const reported = (errorType: string, trace = 'trace') =>
  JSON.stringify({ errorType, errorMessage: 'secret', [trace]: ['at x'] });
/** The same error, with a message so long that Step Functions cuts the cause before the trace. */
const long = (errorType: string) => JSON.stringify({ errorType, errorMessage: 'x'.repeat(2_000) });
/** The error that Lambda reports for a process that ended. */
const died = (errorType: string) => JSON.stringify({ errorType, errorMessage: 'RequestId: 1 Error: secret' });

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
/** The end of a tool that may not be repeated. An expression decides so where another tool would run again. */
const over = (error: string, output = fails(error)) =>
  ['Runtime.ExitError', 'Lambda.Unknown', ...PERHAPS_EXECUTED.map((name) => `Lambda.${name}`)].includes(error)
    ? ends(error, output)
    : caught(error, 1, output);

/** `Run` of a tool that is a function. */
export const runRows: readonly Row[] = [
  {
    title: 'the function gets the event of the contract',
    ...{ ...run('tool'), result: returns({}) },
    expected: { ...goesOn, sent: event(0), output: completes('{}') },
  },
  {
    title: 'arguments are evaluated again for every attempt: the event says which one it is',
    ...{ ...run('tool'), ...after(3), result: returns('{}') },
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
  result('isError that is not a boolean', { isError: 'yes' }, completes('{"isError":"yes"}')),
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
  ...['Runtime.ExitError', 'Sandbox.Timedout', 'Function.ResponseSizeTooLarge'].map(
    (error): Row => ({
      title: `${error} of the function ends the task: its name and nothing else (A-15)`,
      ...{ ...run('tool'), error, cause: died(error) },
      expected: over(error, fails(error, MESSAGES[error])),
    }),
  ),
  ...['TypeError', 'Runtime.ImportModuleError'].map(
    (error): Row => ({
      title: `${error} that the process has reported ends the task: its name and nothing else (A-15)`,
      ...{ ...run('tool'), error, cause: reported(error) },
      expected: caught(error, 1),
    }),
  ),
  ...[THROTTLED, 'Lambda.EniNotReadyException'].flatMap((error) =>
    ['trace', 'stackTrace', 'other'].map((trace) => ({
      title: `${error} that the process has reported, with a ${trace}: the tool ran`,
      ...{ ...run('tool'), error, cause: reported(error, trace) },
      expected: ends(error, fails('ToolFailed')),
    })),
  ),
  ...['States.Timeout', 'Sandbox.Timedout', 'Runtime.ExitError', 'Lambda.Unknown'].flatMap((error) =>
    [reported(error), `["${error}"]`, '"Rate Exceeded. (Service: Lambda)"', 'true', long(error)].map((cause) => ({
      title: `${error} that the process has reported, as ${cause.slice(0, 20)}: not what AWS means by it`,
      ...{ ...run('tool'), error, cause },
      expected: over(error, fails('ToolFailed')),
    })),
  ),
  {
    title: 'Output over 256 KiB: States.DataLimitExceeded, caught by its name',
    ...{ ...run('tool'), result: returns(almostTooLarge) },
    expected: ends('States.DataLimitExceeded', fails('States.DataLimitExceeded', TOO_LARGE)),
  },
  {
    title: 'a payload over 256 KiB',
    ...{ ...run('tool'), error: 'States.DataLimitExceeded' },
    expected: ends('States.DataLimitExceeded', fails('States.DataLimitExceeded', TOO_LARGE)),
  },
  {
    title: 'the timeout of Run',
    ...{ ...run('tool'), error: 'States.Timeout' },
    expected: caught('States.Timeout', 1, fails('States.Timeout', OUT_OF_TIME)),
  },
  ...[...PERHAPS_EXECUTED, 'ResourceNotFoundException'].map((name) => ({
    title: `Lambda.${name}: it may have been executed, or never will be`,
    ...{ ...run('tool'), error: `Lambda.${name}` },
    expected: over(`Lambda.${name}`),
  })),
  {
    title: 'no catcher takes States.Runtime: the reconciler settles the task (row 13)',
    ...{ ...run('tool'), error: 'States.Runtime' },
    expected: { status: 'FAILED', error: 'States.Runtime' },
  },
  ...[0, 3, 5].map((retries) => ({
    title: `throttled, after ${retries} retries: surely not executed`,
    ...{ ...run('tool'), ...after(retries), error: THROTTLED },
    expected: again(THROTTLED, { tries: retries + 1 }, Math.min(21, 2 ** retries)),
  })),
  {
    title: 'throttled 7 s before the deadline: the wait is not past it',
    ...{ ...run('tool'), ...after(30), error: THROTTLED, more: { deadlineAt: Date.now() + 7_000 } },
    expected: again(THROTTLED, { tries: 31 }, 7),
  },
  ...[
    ...['ResourceConflict', 'ResourceNotReady', 'CodeArtifactUserPending', 'SnapStartNotReady', 'SnapStartTimeout'],
    ...['EC2Throttled', 'Ec2Throttled', 'ENILimitReached', 'EniLimitReached', 'ENINotReady', 'EniNotReady'],
    ...['SubnetIPAddressLimitReached', 'SubnetIpAddressLimitReached', 'EFSMountConnectivity', 'EfsMountConnectivity'],
    ...['EFSMountTimeout', 'EfsMountTimeout', 'S3FilesMountConnectivity', 'S3FilesMountTimeout'],
  ].map((name) => ({
    title: `${name}: the function is not there yet, so surely not executed`,
    ...{ ...run('tool'), error: `Lambda.${name}Exception` },
    expected: again(`Lambda.${name}Exception`, { tries: 1 }, 1),
  })),
  {
    title: 'throttled on every try that the history of an execution has room for',
    ...{ ...run('tool'), ...after(2_500), error: THROTTLED },
    expected: ends(THROTTLED, BUSY),
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
    expected: again(THROTTLED, { tries: 1 }, 1),
  },
  ...PERHAPS_EXECUTED.map((name) => ({
    title: `Lambda.${name} of a tool that may be repeated`,
    ...{ ...run('repeatable'), error: `Lambda.${name}` },
    expected: again(`Lambda.${name}`, { tries: 1, losses: 1 }, 1),
  })),
  ...[...PERHAPS_EXECUTED.map((name) => `Lambda.${name}`), 'Runtime.ExitError', 'Lambda.Unknown'].map((error) => ({
    title: `${error} that a tool that may be repeated has thrown`,
    ...{ ...run('repeatable'), error, cause: reported(error) },
    expected: ends(error, fails('ToolFailed')),
  })),
  {
    title: 'a tool that may be repeated waits up to a minute before the last try',
    ...{ ...run('repeatable'), ...after(9, { losses: 5, crashes: 2 }), error: 'Lambda.ServiceException' },
    expected: again('Lambda.ServiceException', { tries: 10, losses: 6, crashes: 2 }, 32),
  },
  {
    title: 'Lambda fails on every try of a tool that may be repeated',
    ...{ ...run('repeatable'), ...after(6, { losses: 6 }), error: 'Lambda.ServiceException' },
    expected: ends('Lambda.ServiceException'),
  },
  ...[
    ['Runtime.ExitError', died('Runtime.ExitError')],
    ['Lambda.Unknown', 'The cause could not be determined. Returned payload: {}'],
  ].flatMap(([error = '', cause = '']) => [
    ...[0, 1].map((retries) => ({
      title: `${error} of a tool that may be repeated, after ${retries} retries`,
      ...{ ...run('repeatable'), ...after(retries, { crashes: retries }), error, cause },
      expected: again(error, { tries: retries + 1, crashes: retries + 1 }, 2 ** retries),
    })),
    {
      title: `${error} for the third time: the task fails with its reason`,
      ...{ ...run('repeatable'), ...after(2, { crashes: 2 }), error, cause },
      expected: ends(error),
    },
  ]),
  ...[1, 6].map((tries) => ({
    title: `a crash after ${tries} other failures: each kind has its own count`,
    ...{
      ...run('repeatable'),
      ...after(tries, { losses: 1 }),
      error: 'Runtime.ExitError',
      cause: died('Runtime.ExitError'),
    },
    expected: again('Runtime.ExitError', { tries: tries + 1, crashes: 1, losses: 1 }, 1),
  })),
  {
    title: 'an exception of a tool that may be repeated is not a crash',
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
    expected: ends('States.DataLimitExceeded', fails('States.DataLimitExceeded', TOO_LARGE)),
  },

  ...(['tool', 'repeatable'] as const).flatMap((workflow): Row[] => [
    {
      title: 'a run that is tried again',
      ...{ workflow, state: 'RunFailed', ...after(1) },
      expected: { status: 'SUCCEEDED', nextState: 'RunAgain' },
    },
    {
      title: 'a run on Express that had too little time',
      ...{ workflow, state: 'RunFailed', input: { cut: true } },
      expected: { status: 'SUCCEEDED', nextState: 'Superseded' },
    },
    {
      title: 'a run that has failed',
      ...{ workflow, state: 'RunFailed', input: { update: 'SET', names: {}, values: {} } },
      expected: goesOn,
    },
    {
      title: 'the wait before another try',
      ...{ workflow, state: 'RunAgain', ...after(1) },
      expected: { status: 'SUCCEEDED', nextState: 'Run' },
    },
  ]),
];
