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

/** `Finish` and `Superseded`, the same in every workflow. */
export const finishRows = (workflow: Workflow): readonly Row[] => {
  const finish = { workflow, state: 'Finish', input } as const;
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
      title: 'Superseded ends the execution well',
      ...{ workflow, state: 'Superseded', input: {} },
      expected: { status: 'SUCCEEDED', output: {} },
    },
  ];
};
