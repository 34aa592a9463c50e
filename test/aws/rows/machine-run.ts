import { expect } from 'vitest';
import { asks, completes, fails } from '../change.ts';
import { execution, type Row } from '../row.ts';

/** The answer of DescribeExecution for an ended execution. `.sync` passes it on, with its output as text. */
const ended = (Status: string, more: object) => ({
  ExecutionArn: 'arn:aws:states:us-east-1:123456789012:execution:author:t-r2',
  StateMachineArn: 'arn:aws:states:us-east-1:123456789012:stateMachine:author',
  Name: 't-r2',
  StartDate: '2026-11-21T10:00:00.000Z',
  StopDate: '2026-11-21T10:00:01.000Z',
  Status,
  Input: '{}',
  ...more,
});
const succeeded = (Output: string) => ended('SUCCEEDED', { Output });
const cause = (error: string) =>
  JSON.stringify({ Cause: 'secret', Error: error, ExecutionArn: 'arn:secret', Status: 'FAILED' });

const start = {
  StateMachineArn: expect.stringContaining(':stateMachine:author'),
  Name: 't-r2',
  Input: {
    name: 'x',
    arguments: { n: 9007199254740991 },
    task: {
      ...{ taskId: 't', owner: 'o', table: 'tasks', results: 'results', round: 2, attempt: 0 },
      deadline: execution.deadlineAt,
    },
    accepts: ['elicitation/create'],
    inputResponses: { a: { action: 'accept' } },
    requestState: null,
  },
};
const found = { ExecutionArn: expect.stringMatching(/:execution:author:t-r2$/) };

const run = { workflow: 'machine', state: 'Run' } as const;
const collect = { workflow: 'machine', state: 'Collect' } as const;
const goesOn = { status: 'SUCCEEDED', nextState: 'Finish' } as const;
const caught = (error: string, catchIndex: number, output = fails(error)) =>
  ({ status: 'CAUGHT_ERROR', error, catchIndex, nextState: 'Finish', output }) as const;
const again = (error: string) => ({ status: 'RETRIABLE', error, retryIndex: 0 }) as const;

const UNHEARD = 'StepFunctions.SdkClientException';
const EXISTS = 'StepFunctions.ExecutionAlreadyExistsException';
const LOST = 'Sfn.SdkClientException';
const TOO_LARGE = fails(
  'States.DataLimitExceeded',
  "The tool's result is too large: a workflow carries at most 256 KiB",
);
const output = '{"id":9007199254740993,"pi":3.14159265358979323846}';
const asked = '{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?"}}},"requestState":1}';
const almostTooLarge = JSON.stringify('x'.repeat(261_500));

/** `Run` and `Collect` of a tool that is a state machine. */
export const machineRows: readonly Row[] = [
  {
    title: 'the machine gets the event of the contract; its output is the result, digit for digit',
    ...{ ...run, result: succeeded(output) },
    expected: { ...goesOn, sent: start, output: completes(output) },
  },
  {
    title: 'every attempt is the same to the letter: the name finds the execution that is there',
    ...{ ...run, earlier: [UNHEARD, UNHEARD], result: succeeded('{}') },
    expected: { ...goesOn, sent: start },
  },
  {
    title: 'questions',
    ...{ ...run, result: succeeded(asked) },
    expected: { ...goesOn, output: asks(asked, execution.arguments, execution.deadlineAt) },
  },
  {
    title: 'an output that is its own error',
    ...{ ...run, result: succeeded('{"content":[],"isError":true}') },
    expected: { ...goesOn, output: completes('{"content":[],"isError":true}', true) },
  },
  {
    title: 'Output over 256 KiB',
    ...{ ...run, result: succeeded(almostTooLarge) },
    expected: caught('States.DataLimitExceeded', 1, TOO_LARGE),
  },
  {
    title: 'an execution that failed: the name of its error, out of the cause (A-15)',
    ...{ ...run, error: 'States.TaskFailed', cause: cause('OutOfStock') },
    expected: caught('States.TaskFailed', 2, fails('OutOfStock')),
  },
  {
    title: 'an execution that failed without a name',
    ...{ ...run, error: 'States.TaskFailed', cause: cause('it is "secret"') },
    expected: caught('States.TaskFailed', 2),
  },
  {
    title: 'the timeout of Run',
    ...{ ...run, error: 'States.Timeout' },
    expected: caught('States.Timeout', 2, fails('States.Timeout', 'The tool ran out of its time')),
  },
  {
    title: 'a machine that is not there',
    ...{ ...run, error: 'StepFunctions.StateMachineDoesNotExistException' },
    expected: caught('StepFunctions.StateMachineDoesNotExistException', 2),
  },
  ...[
    ...['ExecutionLimitExceeded', 'Throttling', 'KmsThrottling', 'AWSStepFunctions'].map(
      (name) => `StepFunctions.${name}Exception`,
    ),
    UNHEARD,
  ].map((error) => ({ title: `${error}: started again`, ...{ ...run, error }, expected: again(error) })),
  {
    title: 'a start that is not heard on any try',
    ...{ ...run, error: UNHEARD, retries: 100 },
    expected: caught(UNHEARD, 2),
  },
  {
    title: 'started, and ended before a retry could find it: collected',
    ...{ ...run, error: EXISTS, earlier: [UNHEARD], retrierRetryCount: 0 },
    expected: { status: 'CAUGHT_ERROR', error: EXISTS, catchIndex: 0, nextState: 'Collect', output: {} },
  },

  {
    title: 'the outcome is collected, digit for digit',
    ...{ ...collect, input: {}, result: succeeded(output) },
    expected: { ...goesOn, sent: found, output: completes(output) },
  },
  ...[
    ['FAILED', { Error: 'OutOfStock', Cause: 'secret' }, 'OutOfStock'],
    ['FAILED', { Error: 'a secret', Cause: 'secret' }, 'States.TaskFailed'],
    ['TIMED_OUT', { Error: 'States.Timeout' }, 'States.Timeout'],
    ['ABORTED', {}, 'States.TaskFailed'],
  ].map(([status, more, reason]) => ({
    title: `an execution that is ${status}: ${reason}`,
    ...{ ...collect, input: {}, result: ended(String(status), Object(more)) },
    expected: {
      ...goesOn,
      output: reason === 'States.Timeout' ? fails(reason, 'The tool ran out of its time') : fails(String(reason)),
    },
  })),
  ...[0, 99].map((retries) => ({
    title: `a poll that failed, after ${retries} retries`,
    ...{ ...collect, input: {}, error: LOST, retries },
    expected: again(LOST),
  })),
  {
    title: 'no poll succeeds',
    ...{ ...collect, input: {}, error: LOST, retries: 100 },
    expected: caught(LOST, 1),
  },
  {
    title: 'an outcome over 256 KiB',
    ...{ ...collect, input: {}, result: succeeded(almostTooLarge) },
    expected: caught('States.DataLimitExceeded', 0, TOO_LARGE),
  },
];
