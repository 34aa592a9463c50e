import type { SFNClient } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { startAgain } from '../../../../functions/engine/start-round.ts';
import { stepFunctions } from '../../../../functions/tasks/aws/step-functions.ts';
import { TooManyStarts } from '../../../../functions/tasks/errors.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { executionArnOf, roundInput, type Workflow, workflow } from '../../../../functions/tasks/workflow.ts';
import { fakeClient } from '../../../support/aws-client.ts';
import { type FakeAnswer, fakeService } from '../aws/fake-service.ts';
import { noInputs } from '../s3/fake-inputs.ts';

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
  return { asked, start: () => start(record, 't', '{}'), stop: () => stop(record, 't') };
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
  ['StateMachineDoesNotExist'],
  ['StateMachineDeleting'],
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
  await expect(workflow(failing, 'arn:').start(record, 't', '{}')).rejects.toBe(thrown);
});

test('a round starts with what the tool needs of its record, within the limit of Step Functions', () => {
  const answered = { ...record, accepts: ['roots/list'], inputResponses: { 'r1.a': '1' }, round: 2 };
  expect(JSON.parse(roundInput({ ...answered, asked: '{"requestState":{"n":1}}' }, '{"x":1}') ?? '')).toEqual({
    ...{ owner: 'o', taskId: 'a', tool: 't', round: 2, deadlineAt: 60_000, arguments: '{"x":1}' },
    ...{ accepts: ['roots/list'], inputResponses: { a: 1 }, requestState: { n: 1 } },
  });
  const empty = roundInput(record, '') ?? '';
  expect(JSON.parse(empty)).toMatchObject({ accepts: [], inputResponses: {}, requestState: null });
  const room = 262_144 - Buffer.byteLength(empty);
  expect(roundInput(record, 'é'.repeat(room / 2))).toBeDefined();
  expect(roundInput(record, `${'é'.repeat(room / 2)}xx`)).toBeUndefined();
});

test('an answered round is started as it was asked, or is gone with its tool (row 16)', async () => {
  const started: unknown[] = [];
  const starts = (answer?: 'taken'): Workflow => ({
    start: async (...given) => {
      started.push(given);
      return answer;
    },
    stop: async () => {},
  });
  const answered = { ...record, arguments: '{"n":1}' };
  const again = (task: Parameters<typeof startAgain>[0], workflow: Workflow, machine = 'm') => {
    const machineOf = () => (machine === '' ? undefined : { id: machine, express: false });
    return startAgain(task, { machineOf, workflow, inputs: noInputs() });
  };
  expect(await again(answered, starts())).toBe('started');
  expect(started).toEqual([[answered, 'm', roundInput(answered, '{"n":1}')]]);
  expect(await again(answered, starts('taken'))).toBe('taken');
  expect(await again(answered, starts(), '')).toBe('gone');
  expect(await again(record, starts())).toBe('gone');
  expect(started).toHaveLength(2);
});

test('the execution of a round has the ARN of its machine, and a name that is the round', async () => {
  expect(executionArnOf({ taskId: 'a', round: 3 }, `${prefix}t`)).toBe('arn:aws:states:r:1:execution:s-t:a-r3');
  const { asked, start, stop } = await answering([200, { executionArn: 'e', startDate: 1 }]);
  expect(await start()).toBeUndefined();
  await stop();
  expect(asked.map(({ headers, body }) => [headers['x-amz-target'], body])).toEqual([
    ['AWSStepFunctions.StartExecution', { stateMachineArn: `${prefix}t`, name: 'a-r1', input: '{}' }],
    [
      'AWSStepFunctions.StopExecution',
      { executionArn: 'arn:aws:states:r:1:execution:s-t:a-r1', cause: 'The task is over' },
    ],
  ]);
});
