import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { signingKey } from '../../../../functions/mcp/identity/signing-key.ts';
import { isOutage } from '../../../../functions/mcp/protocol/aws-outage.ts';

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
  return () => vi.unstubAllEnvs();
});

type Answer = [status: number, body?: object] | 'cut' | 'silence';

/** Secrets Manager, giving these answers in turn; the last one again and again. */
async function secretsManager(...answers: Answer[]) {
  const asked: { line: unknown; type: unknown; target: unknown; body: unknown; signed: boolean }[] = [];
  const server = createServer(async (request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? 'cut';
    const { 'x-amz-target': target, 'content-type': type, authorization = '' } = request.headers;
    const line = `${request.method} ${request.url}`;
    const signed = /\/eu-west-1\/secretsmanager\/aws4_request/.test(authorization);
    asked.push({ line, type, target, body: JSON.parse(await text(request)), signed });
    if (answer === 'cut') return request.socket.destroy();
    if (answer === 'silence') return undefined;
    response.writeHead(answer[0], { 'content-type': 'application/x-amz-json-1.1' });
    return response.end(answer[1] && JSON.stringify(answer[1]));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const env = { AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` };
  return { asked, read: signingKey('the-secret', env) };
}
const refusal = (name: string): object => ({ __type: `com.amazonaws.secretsmanager#${name}`, message: 'a secret' });

test('reads a stage of the secret by one signed request', async () => {
  const { asked, read } = await secretsManager([200, { SecretString: 'k' }]);
  expect(await read('AWSCURRENT')).toBe('k');
  const body = { SecretId: 'the-secret', VersionStage: 'AWSCURRENT' };
  const request = { line: 'POST /', type: 'application/x-amz-json-1.1', target: 'secretsmanager.GetSecretValue' };
  expect(asked).toEqual([{ ...request, body, signed: true }]);
});

test.each<[string, Answer]>([
  ['a fault of AWS', [500, refusal('InternalServiceError')]],
  ['a throttle', [400, refusal('ThrottlingException')]],
  ['a lost connection', 'cut'],
])('tries again after %s, three times at most', async (_what, answer) => {
  const { read, asked } = await secretsManager(answer, answer, [200, { SecretString: 'k' }]);
  expect(await read('AWSCURRENT')).toBe('k');
  expect(asked).toHaveLength(3);
  const down = await secretsManager(answer);
  await expect(down.read('AWSCURRENT')).rejects.toThrow();
  expect(down.asked).toHaveLength(3);
});

test('an answer that does not come is an outage, and the client may try again', async () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const impatient = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(200));
  onTestFinished(() => impatient.mockRestore());
  const { read, asked } = await secretsManager('silence');
  const error = await read('AWSCURRENT').catch((thrown: unknown) => thrown);
  expect(asked).toHaveLength(3);
  expect(isOutage(error)).toBe(true);
});

test('before the first rotation the secret has no previous key', async () => {
  const { read, asked } = await secretsManager([400, refusal('ResourceNotFoundException')]);
  expect(await read('AWSPREVIOUS')).toBeUndefined();
  await expect(read('AWSCURRENT')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  expect(asked).toHaveLength(2);
});

test('an answer without a body is an error by its status alone', async () => {
  const { read } = await secretsManager([500]);
  const error = { name: 'SecretsManagerError', $metadata: { httpStatusCode: 500 } };
  await expect(read('AWSCURRENT')).rejects.toMatchObject(error);
});

test('a key that may not be read is not a key that is not there', async () => {
  const { read } = await secretsManager([400, refusal('AccessDeniedException')]);
  await expect(read('AWSPREVIOUS')).rejects.toMatchObject({ name: 'AccessDeniedException' });
});

test('a refusal is not repeated, and its error does not say what AWS said (A-15)', async () => {
  const { read, asked } = await secretsManager([400, refusal('AccessDeniedException')]);
  const error = await read('AWSCURRENT').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'AccessDeniedException', message: 'The signing key cannot be read' });
  expect(asked).toHaveLength(1);
});
