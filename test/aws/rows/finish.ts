import { expect } from 'vitest';
import { completes } from '../change.ts';
import type { Row, Workflow } from '../row.ts';

const LOST = 'DynamoDB.ConditionalCheckFailedException';

/** What `Run` hands over: a small change of the same form. */
const input = {
  update: 'SET #status = :status, #updatedAt = :updatedAt REMOVE #due, #dueAt',
  names: {
    ...{ '#round': 'round', '#deadlineAt': 'deadlineAt', '#status': 'status', '#updatedAt': 'updatedAt' },
    ...{ '#due': 'due', '#dueAt': 'dueAt' },
  },
  values: {
    ':working': { S: 'working' },
    ':inRound': { N: '2' },
    ':status': { S: 'completed' },
    ':updatedAt': { N: '1763634000123' },
  },
};
const sent = {
  TableName: 'tasks',
  Key: { owner: { S: 'o' }, taskId: { S: 't' } },
  ConditionExpression: '#status = :working AND #round = :inRound AND #deadlineAt >= :latest',
  set: { status: { S: 'completed' }, updatedAt: { N: '1763634000123' } },
  remove: ['due', 'dueAt'],
  when: { ...completes('').when, latest: { N: expect.stringMatching(/^\d{13}$/) } },
};

/** A change whose result is too large for the record. */
const text = 'x'.repeat(2_000);
const large = {
  update: input.update.replace(' REMOVE', ', #result = :result, #isError = :isError REMOVE'),
  names: { ...input.names, '#result': 'result', '#isError': 'isError' },
  values: { ...input.values, ':result': { S: text }, ':isError': { BOOL: false } },
};
const BUSY = 'Lambda.TooManyRequestsException';

/** `Finish`, `Store` and `Superseded`, the same in every workflow. */
export const finishRows = (workflow: Workflow): readonly Row[] => {
  const finish = { workflow, state: 'Finish', input } as const;
  const store = { workflow, state: 'Store', input: large } as const;
  return [
    {
      title: 'the change is written',
      ...{ ...finish, result: {} },
      expected: { status: 'SUCCEEDED', sent, output: {} },
    },
    {
      title: 'the record allows it no more: not tried again, Superseded (rows 12, 14, 15, 18)',
      ...{ ...finish, error: LOST },
      expected: { status: 'CAUGHT_ERROR', error: LOST, catchIndex: 0, nextState: 'Superseded', output: {} },
    },
    {
      title: 'a write that was not heard, then a lost condition: it was written (row 12)',
      ...{ ...finish, error: LOST, earlier: ['DynamoDB.SdkClientException'], retrierRetryCount: 0 },
      expected: { status: 'CAUGHT_ERROR', error: LOST, catchIndex: 0, nextState: 'Superseded' },
    },
    ...[
      'DynamoDB.ProvisionedThroughputExceededException',
      'DynamoDB.ThrottlingException',
      'DynamoDB.InternalServerError',
      'DynamoDB.AmazonDynamoDBException',
      'DynamoDB.SdkClientException',
      'States.Timeout',
    ].map((error) => ({
      title: `${error} is tried again (row 11)`,
      ...{ ...finish, error },
      expected: { status: 'RETRIABLE', error, retryIndex: 1 } as const,
    })),
    {
      title: 'the twelfth retry',
      ...{ ...finish, error: 'DynamoDB.InternalServerError', retries: 11 },
      expected: { status: 'RETRIABLE', error: 'DynamoDB.InternalServerError', retryIndex: 1 },
    },
    {
      title: 'DynamoDB is down for longer: the execution fails, and the reconciler settles the task (rows 11, 13)',
      ...{ ...finish, error: 'DynamoDB.InternalServerError', retries: 12 },
      expected: { status: 'FAILED', error: 'DynamoDB.InternalServerError' },
    },
    {
      title: 'a result that is too large for the record: nothing is written, Store',
      ...{ workflow, state: 'Finish', input: large, result: {} },
      expected: {
        ...{ status: 'CAUGHT_ERROR', error: 'States.QueryEvaluationError', catchIndex: 1, nextState: 'Store' },
        output: {
          ...{ remove: sent.remove, when: completes('').when },
          set: { ...sent.set, result: { S: text }, isError: { BOOL: false } },
        },
      },
    },
    {
      title: 'a function of the server gets the result',
      ...{ ...store, result: { ExecutedVersion: '$LATEST', StatusCode: 200, Payload: null } },
      expected: {
        status: 'SUCCEEDED',
        sent: {
          FunctionName: expect.stringContaining(':function:outcomes'),
          Payload: { outcome: { owner: 'o', taskId: 't', round: 2, text, isError: false, asks: false } },
        },
        output: {},
      },
    },
    {
      title: 'it is throttled: tried again',
      ...{ ...store, error: BUSY },
      expected: { status: 'RETRIABLE', error: BUSY, retryIndex: 0 },
    },
    ...['ResultStoreError', 'Lambda.ServiceException', 'Runtime.ExitError', 'States.Timeout'].map((error) => ({
      title: `${error} is tried again (row 11)`,
      ...{ ...store, error },
      expected: { status: 'RETRIABLE', error, retryIndex: 1 } as const,
    })),
    {
      title: 'S3 is down for longer: the execution fails, and the reconciler settles the task (rows 11, 13)',
      ...{ ...store, error: 'ResultStoreError', retries: 12 },
      expected: { status: 'FAILED', error: 'ResultStoreError' },
    },
    {
      title: 'Superseded ends the execution well',
      ...{ workflow, state: 'Superseded', input: {} },
      expected: { status: 'SUCCEEDED', output: {} },
    },
  ];
};
