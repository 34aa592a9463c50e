import { afterEach, expect, test, vi } from 'vitest';
import { defaultProvider } from '../../../functions/mcp/env-credentials.ts';

afterEach(() => vi.unstubAllEnvs());

test('credentials are those of the environment; without a session there is no token', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_SESSION_TOKEN', 'token');
  const pair = { accessKeyId: 'id', secretAccessKey: 'secret' };
  expect(await defaultProvider()()).toStrictEqual({ ...pair, sessionToken: 'token' });
  vi.stubEnv('AWS_SESSION_TOKEN', undefined);
  expect(await defaultProvider()()).toStrictEqual(pair);
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
  expect(await defaultProvider()()).toStrictEqual({ accessKeyId: '', secretAccessKey: '' });
});
