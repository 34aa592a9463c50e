import type { SFNClient } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { stepFunctions } from '../../../../functions/tasks/aws/step-functions.ts';
import { workflow } from '../../../../functions/tasks/aws/workflow.ts';
import { TooManyStarts } from '../../../../functions/tasks/errors.ts';
import { executionArnOf } from '../../../../functions/tasks/ids.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeClient } from '../../../support/aws-client.ts';
import { type FakeAnswer, fakeService } from './fake-service.ts';

const task = { tool: 't', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const prefix = 'arn:aws:states:r:1:stateMachine:s-';
const record = create({ owner: 'o', taskId: 'a' }, task, 0);

const refused = (name: string, status = 400): FakeAnswer => [
  status,
  { __type: name, message: 'arn:aws:states:secret' },
];

/** A workflow of a Step Functions that gives these answers. */
async function answering(...answers: FakeAnswer[]) {
  const { asked, endpoint } = await fakeService(...answers);
  const options = { region: 'eu-west-1', endpoint, requestTimeout: 5_000, attempts: 3 };
  const { start, stop } = workflow(stepFunctions(options), prefix);
  return { asked, start: () => start(record, '{}'), stop: () => stop(record) };
}

test('a taken name is another task’s, unless an earlier try may have taken it (rows 3 and 6)', async () => {
  expect(await (await answering(refused('ExecutionAlreadyExists'))).start()).toBe('taken');
  expect(await (await answering('cut', refused('ExecutionAlreadyExists'))).start()).toBeUndefined();
});

test.each([
  ['ThrottlingException'],
  ['ExecutionLimitExceeded'],
  ['TooManyRequestsException'],
  ['RequestLimitExceeded'],
  ['KmsThrottlingException'],
])('a start refused with %s is not retried: the client gets 429 at once (row 2)', async (error) => {
  const { asked, start } = await answering(refused(error));
  const thrown = await start().catch((caught: unknown) => caught);
  expect(thrown).toBeInstanceOf(TooManyStarts);
  expect(thrown).toMatchObject({ certain: true, httpStatus: 429, retryAfter: 5, data: { reason: 'Unavailable' } });
  expect(String(thrown)).not.toContain('secret');
  expect(asked).toHaveLength(1);
});

test('a refusal is not certain if an earlier try lost its answer: it may have started (row 3)', async () => {
  const { asked, start } = await answering('cut', refused('ThrottlingException'));
  await expect(start()).rejects.toMatchObject({ name: 'TooManyStarts', certain: false });
  expect(asked).toHaveLength(2);
});

test.each([
  ['AccessDeniedException', 400, 1],
  ['StateMachineDoesNotExist', 400, 1],
  ['InternalFailure', 500, 3],
])('a start that fails with %s is not a quota refusal: the error is thrown unchanged', async (error, status, tries) => {
  const { asked, start } = await answering(refused(error, status));
  await expect(start()).rejects.toMatchObject({ name: error });
  expect(asked).toHaveLength(tries);
});

test.each([
  ['Error', new Error('no answer')],
  ['a text', 'no answer'],
])('%s that did not come from Step Functions is thrown as it came', async (_title, thrown) => {
  const failing = fakeClient<SFNClient>(() => Promise.reject(thrown));
  await expect(workflow(failing, 'arn:').start(record, '{}')).rejects.toBe(thrown);
});

test('the execution of a round has the ARN of its machine, and a name that is the round', async () => {
  expect(executionArnOf({ taskId: 'a', round: 3 }, `${prefix}t`)).toBe('arn:aws:states:r:1:execution:s-t:a-r3');
  const { asked, start, stop } = await answering([200, { executionArn: 'e', startDate: 1 }]);
  expect(await start()).toBeUndefined();
  await stop();
  expect(asked.map(({ headers, body }) => [headers['x-amz-target'], body])).toEqual([
    ['AWSStepFunctions.StartExecution', { stateMachineArn: `${prefix}standard`, name: 'a-r1', input: '{}' }],
    [
      'AWSStepFunctions.StopExecution',
      {
        executionArn: 'arn:aws:states:r:1:execution:s-standard:a-r1',
        error: 'TaskOver',
        cause: 'The task is over',
      },
    ],
  ]);
});
