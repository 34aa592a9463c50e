import { SFNClient, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { HttpResponse } from '@smithy/core/protocols';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, test } from 'vitest';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { create } from '../../../functions/tasks/transitions.ts';
import { executionArnOf, restart, roundInput, type Workflow, workflow } from '../../../functions/tasks/workflow.ts';
import { noInputs } from './s3/fake-inputs.ts';

const task = { tool: 't', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const record = create({ owner: 'o', taskId: 'a' }, task, 0);

/** A start that Step Functions refuses with this error, after so many tries that had no answer. */
function refusal(error: string, unanswered: number, status = 400) {
  const sent = { tries: 0 };
  const handle = async () => {
    if (++sent.tries <= unanswered) throw Object.assign(new Error('no answer'), { name: 'TimeoutError' });
    const body = new TextEncoder().encode(JSON.stringify({ __type: error, message: 'arn:aws:states:secret' }));
    return { response: new HttpResponse({ statusCode: status, headers: {}, body }) };
  };
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const sfn = new SFNClient({ region: 'eu-west-1', credentials, requestHandler: { handle } as never });
  return { sent, start: () => workflow(sfn, 'arn:').start(record, 't', '{}') };
}
const startAfter = (unanswered: number) => refusal('ExecutionAlreadyExists', unanswered).start();

test('a taken name is another task’s, unless an earlier try may have taken it (rows 3 and 6)', async () => {
  expect(await startAfter(0)).toBe('taken');
  expect(await startAfter(1)).toBeUndefined();
});

test.each([
  ['ThrottlingException'],
  ['ExecutionLimitExceeded'],
  ['TooManyRequestsException'],
  ['RequestLimitExceeded'],
  ['KmsThrottlingException'],
])('a start refused with %s is not retried: the client gets 429 at once (row 2)', async (error) => {
  const { sent, start } = refusal(error, 0);
  const refused = await start().catch((thrown: unknown) => thrown);
  expect(refused).toBeInstanceOf(TooManyStarts);
  expect(refused).toMatchObject({ certain: true, httpStatus: 429, retryAfter: 5, data: { reason: 'Unavailable' } });
  expect(String(refused)).not.toContain('secret');
  expect(sent.tries).toBe(1);
});

test('a refusal is not certain if an earlier try lost its answer: it may have started (row 3)', async () => {
  const { sent, start } = refusal('ThrottlingException', 1);
  await expect(start()).rejects.toMatchObject({ name: 'TooManyStarts', certain: false });
  expect(sent.tries).toBe(2);
});

test.each([
  ['AccessDeniedException', 400, 1],
  ['InternalFailure', 500, 3],
])('a start that fails with %s is not a quota refusal: the error is thrown unchanged', async (error, status, tries) => {
  const { sent, start } = refusal(error, 0, status);
  await expect(start()).rejects.toMatchObject({ name: error });
  expect(sent.tries).toBe(tries);
});

test.each([
  ['Error', new Error('no answer')],
  ['a text', 'no answer'],
])('%s that did not come from Step Functions is thrown as it came', async (_title, thrown) => {
  const sfn = { send: () => Promise.reject(thrown) } as unknown as SFNClient;
  await expect(workflow(sfn, 'arn:').start(record, 't', '{}')).rejects.toBe(thrown);
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
  expect(await restart(answered, 'm', starts(), noInputs())).toBe('started');
  expect(started).toEqual([[answered, 'm', roundInput(answered, '{"n":1}')]]);
  expect(await restart(answered, 'm', starts('taken'), noInputs())).toBe('taken');
  expect(await restart(answered, undefined, starts(), noInputs())).toBe('gone');
  expect(await restart(record, 'm', starts(), noInputs())).toBe('gone');
  expect(started).toHaveLength(2);
});

test('the execution of a round has the ARN of its machine, and a name that is the round', async () => {
  const prefix = 'arn:aws:states:r:1:stateMachine:s-';
  expect(executionArnOf({ taskId: 'a', round: 3 }, `${prefix}t`)).toBe('arn:aws:states:r:1:execution:s-t:a-r3');
  const sfn = mockClient(SFNClient);
  const { start, stop } = workflow(new SFNClient({ region: 'eu-west-1' }), prefix);
  sfn.on(StartExecutionCommand).resolves({});
  sfn.on(StopExecutionCommand).resolves({});
  expect(await start(record, 't', '{}')).toBeUndefined();
  await stop(record, 't');
  const sent = sfn.calls().map(({ args }) => args[0].input);
  sfn.restore();
  expect(sent).toEqual([
    { stateMachineArn: `${prefix}t`, name: 'a-r1', input: '{}' },
    { executionArn: 'arn:aws:states:r:1:execution:s-t:a-r1', cause: 'The task is over' },
  ]);
});
