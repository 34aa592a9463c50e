import { expect, test, vi } from 'vitest';
import { signingKey } from '../../../../functions/mcp/identity/signing-key.ts';
import { type FakeAnswer, fakeService } from '../../tasks/aws/fake-service.ts';

async function secretsManager(...answers: FakeAnswer[]) {
  const { asked, endpoint } = await fakeService(...answers);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
  return { asked, read: signingKey('the-secret') };
}
const refusal = (name: string): FakeAnswer => [
  400,
  { __type: `com.amazonaws.secretsmanager#${name}`, message: 'secret' },
];

test('reads a stage of the secret by one signed request', async () => {
  const { asked, read } = await secretsManager([200, { SecretString: 'k' }]);
  expect(await read('AWSCURRENT')).toBe('k');
  expect(asked).toMatchObject([
    {
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'secretsmanager.GetSecretValue',
        authorization: expect.stringContaining('/eu-west-1/secretsmanager/aws4_request'),
      },
      body: { SecretId: 'the-secret', VersionStage: 'AWSCURRENT' },
    },
  ]);
});

test('is read again after an outage, three times at most', async () => {
  const { asked, read } = await secretsManager([500], 'cut', [200, { SecretString: 'k' }]);
  expect(await read('AWSCURRENT')).toBe('k');
  expect(asked).toHaveLength(3);
  const down = await secretsManager([500]);
  await expect(down.read('AWSCURRENT')).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
  expect(down.asked).toHaveLength(3);
});

test('before the first rotation the secret has no previous key', async () => {
  const { asked, read } = await secretsManager(refusal('ResourceNotFoundException'));
  expect(await read('AWSPREVIOUS')).toBeUndefined();
  await expect(read('AWSCURRENT')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  expect(asked).toHaveLength(2);
});

test('a key that may not be read is not a key that is not there (A-15)', async () => {
  const { read } = await secretsManager(refusal('AccessDeniedException'));
  await expect(read('AWSPREVIOUS')).rejects.toMatchObject({ name: 'AccessDeniedException' });
});
