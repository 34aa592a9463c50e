import { beforeEach, expect, test, vi } from 'vitest';
import { patiently } from '../../../../functions/tasks/aws/patiently.ts';
import { ResultStoreError } from '../../../../functions/tasks/results/result-store.ts';

const pauses: number[] = [];
const wait = async (ms: number) => void pauses.push(ms);
beforeEach(() => {
  pauses.length = 0;
});

const failure = (name: string, httpStatusCode?: number) =>
  Object.assign(new Error('failed'), { name, $metadata: { ...(httpStatusCode && { httpStatusCode }) } });

test.each([
  failure('ThrottlingException', 400),
  failure('ProvisionedThroughputExceededException', 400),
  failure('InternalServerError', 500),
  failure('TimeoutError'),
  failure('RequestTimeout', 400),
  new ResultStoreError('stored', 'SlowDown', { httpStatusCode: 503 }),
  new ResultStoreError('stored', 'TimeoutError', {}),
  // Of S3 itself, and of KMS behind it.
  new ResultStoreError('stored', 'RequestTimeout', { httpStatusCode: 400 }),
  new ResultStoreError('stored', 'ThrottlingException', { httpStatusCode: 400 }),
])('after $name the call is made again', async (error) => {
  const call = vi.fn().mockRejectedValueOnce(error).mockRejectedValueOnce(error).mockResolvedValue('done');
  expect(await patiently(call, wait)).toBe('done');
  expect(call).toHaveBeenCalledTimes(3);
});

test.each([
  failure('ValidationException', 400),
  failure('AccessDeniedException', 400),
  new ResultStoreError('read', 'NoSuchKey', { httpStatusCode: 404 }),
  new TypeError('a fault in the code'),
])('after $name it is not', async (error) => {
  const call = vi.fn().mockRejectedValue(error);
  await expect(patiently(call, wait)).rejects.toBe(error);
  expect(call).toHaveBeenCalledTimes(1);
});

test('calls that take long themselves end it after a minute, too', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const error = new ResultStoreError('stored', 'TimeoutError', {});
  const call = vi.fn().mockImplementation(async () => {
    now += 15_000;
    throw error;
  });
  await expect(patiently(call, wait)).rejects.toBe(error);
  vi.restoreAllMocks();
  expect(call).toHaveBeenCalledTimes(5);
});

test('an outage of more than a minute ends it, with the last error', async () => {
  const call = vi.fn().mockImplementation(async () => {
    throw failure('ThrottlingException', 400);
  });
  await expect(patiently(call, wait)).rejects.toMatchObject({ name: 'ThrottlingException' });
  const all = pauses.reduce((sum, ms) => sum + ms, 0);
  expect(call).toHaveBeenCalledTimes(pauses.length + 1);
  expect(all).toBeGreaterThan(33_000);
  expect(all).toBeLessThan(68_000);
});
