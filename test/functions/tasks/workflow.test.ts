import { SFNClient } from '@aws-sdk/client-sfn';
import { HttpResponse } from '@smithy/core/protocols';
import { expect, test } from 'vitest';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { create } from '../../../functions/tasks/transitions.ts';
import { workflow } from '../../../functions/tasks/workflow.ts';

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
