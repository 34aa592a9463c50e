import { expect, onTestFinished, test, vi } from 'vitest';
import { isOutage } from '../../../../functions/mcp/protocol/aws-outage.ts';
import { awsJson } from '../../../../functions/tasks/aws/aws-json.ts';
import { type FakeAnswer, fakeService } from './fake-service.ts';

const service = { service: 'states', target: 'AWSStepFunctions', version: '1.0', region: 'eu-west-1' } as const;

async function client(...answers: FakeAnswer[]) {
  const { asked, endpoint } = await fakeService(...answers);
  return { asked, send: awsJson({ ...service, endpoint, requestTimeout: 5_000, attempts: 3 }) };
}
const refusal = (name: string) => ({ __type: `com.amazonaws.sfn#${name}`, message: 'arn:aws:secret' });
async function failed(sending: Promise<unknown>): Promise<Error> {
  const answer = await sending.catch((error: unknown) => error);
  expect(answer).toBeInstanceOf(Error);
  return answer as Error;
}

test('an operation is one signed POST, and its answer is what the service says', async () => {
  const { asked, send } = await client([200, { executionArn: 'e' }]);
  expect(await send('StartExecution', { name: 'ä' })).toEqual({ executionArn: 'e' });
  expect(asked).toMatchObject([
    {
      line: 'POST /',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'AWSStepFunctions.StartExecution',
        authorization: expect.stringContaining('/eu-west-1/states/aws4_request'),
      },
      body: { name: 'ä' },
    },
  ]);
});

test('an answer without a body says nothing', async () => {
  const { send } = await client([200]);
  expect(await send('StopExecution', {})).toEqual({});
});

test.each<[string, FakeAnswer]>([
  ['a fault of AWS', [500, refusal('InternalServerError')]],
  ['a status that is no usual fault', [507]],
  ['a throttle', [400, refusal('ThrottlingException')]],
  ['too many requests', [429]],
  ['a lost connection', 'cut'],
])('%s is tried again, three times at most, and the error says how often', async (_title, answer) => {
  const { asked, send } = await client(answer, answer, [200, { ok: 1 }]);
  expect(await send('StartExecution', {})).toEqual({ ok: 1 });
  expect(asked).toHaveLength(3);
  const down = await client(answer);
  expect(await failed(down.send('StartExecution', {}))).toMatchObject({ $metadata: { attempts: 3 } });
  expect(down.asked).toHaveLength(3);
});

test('an answer that never comes is an outage after each attempt had its time', async () => {
  const { asked, endpoint } = await fakeService('silence');
  const send = awsJson({ ...service, endpoint, requestTimeout: 100, attempts: 2 });
  const error = await failed(send('StartExecution', {}));
  expect(error).toMatchObject({ name: 'TimeoutError', $metadata: { attempts: 2 } });
  expect(isOutage(error)).toBe(true);
  expect(asked).toHaveLength(2);
});

test.each<[string, FakeAnswer]>([
  ['a full name in the body', [400, refusal('AccessDeniedException')]],
  ['a short name in the body', [400, { __type: 'AccessDeniedException' }]],
  ['a header', [400, 'no JSON', { 'x-amzn-errortype': 'AccessDeniedException:http://internal/' }]],
])('a refusal is not tried again, and has the name that AWS gives it: %s', async (_title, answer) => {
  const { asked, send } = await client(answer);
  const error = await failed(send('StartExecution', {}));
  expect(error).toMatchObject({ name: 'AccessDeniedException', $metadata: { httpStatusCode: 400, attempts: 1 } });
  expect(asked).toHaveLength(1);
});

test('an error never says what AWS said; it has the request id (A-15)', async () => {
  const { send } = await client([400, refusal('ValidationException'), { 'x-amzn-requestid': 'r-1' }]);
  const error = await failed(send('StartExecution', {}));
  expect(error.message).toBe('states refused StartExecution');
  expect(error).toMatchObject({ $metadata: { requestId: 'r-1' } });
  const { send: nameless } = await client([403, '<html>']);
  expect(await failed(nameless('StartExecution', {}))).toMatchObject({ name: 'AwsError' });
});

test('an error that is final for the caller is not tried again', async () => {
  const { asked, send } = await client([400, refusal('ThrottlingException')]);
  const error = await failed(send('StartExecution', {}, ({ name }) => name === 'ThrottlingException'));
  expect(error).toMatchObject({ name: 'ThrottlingException', $metadata: { attempts: 1 } });
  expect(asked).toHaveLength(1);
});

test('a retry waits up to 100 ms, then up to 200 ms; after a throttle five times as long', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const waits = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => {
    random.mockRestore();
    waits.mockRestore();
  });
  const pauses = async (answer: FakeAnswer) => {
    const { send } = await client(answer);
    waits.mockClear();
    await failed(send('StartExecution', {}));
    return waits.mock.calls.map(([, ms]) => ms).filter((ms) => [50, 100, 250, 500].includes(ms ?? 0));
  };
  expect(await pauses([500])).toEqual([50, 100]);
  expect(await pauses([429])).toEqual([250, 500]);
});

test('without an endpoint, the request goes to the service of the region', async () => {
  const send = awsJson({
    ...service,
    region: 'no-such-place',
    endpoint: undefined,
    requestTimeout: 2_000,
    attempts: 1,
  });
  const { code, name, message } = (await failed(send('StartExecution', {}))) as NodeJS.ErrnoException;
  expect(code ?? name).toMatch(/ENOTFOUND|EAI_AGAIN|TimeoutError/);
  if (code !== undefined) expect(message).toContain('states.no-such-place.amazonaws.com');
});
