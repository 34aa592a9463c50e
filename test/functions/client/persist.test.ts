import { expect, test, vi } from 'vitest';
import { Lost, persist } from '../../../functions/client/persist.ts';
import { instantPauses } from './instant.ts';

const pauses = instantPauses();

const passing = [
  new TypeError('fetch failed'),
  new SyntaxError('an answer that was cut'),
  new Lost('no answer'),
  Object.assign(new Error('busy'), { data: { status: 429 } }),
  Object.assign(new Error('server error'), { code: 500 }),
  Object.assign(new Error('network timeout'), { status: 599 }),
  Object.assign(new Error('an outage of AWS'), { code: -32603, data: { reason: 'Unavailable' } }),
  Object.assign(new Error('an outage of S3'), { code: -32603, data: { reason: 'ResultUnavailable' } }),
];

test.each(passing)('what the network or the server could not do is tried again: %s', async (error) => {
  const work = vi.fn<() => Promise<string>>().mockRejectedValueOnce(error).mockResolvedValueOnce('done');
  expect(await persist(work, undefined)).toBe('done');
  expect(work).toHaveBeenCalledTimes(2);
});

test('what was answered is not tried again', async () => {
  for (const code of [-32602, 404, 499, 600, 'CONNECTION_CLOSED']) {
    const work = vi.fn<() => Promise<string>>().mockRejectedValue(Object.assign(new Error('no'), { code }));
    await expect(persist(work, undefined)).rejects.toThrow('no');
    expect(work).toHaveBeenCalledOnce();
  }
});

test('an abort ends the wait for the next try', async () => {
  const stop = new AbortController();
  const work = vi.fn<() => Promise<string>>().mockImplementation(async () => {
    setImmediate(() => stop.abort());
    throw new TypeError('fetch failed');
  });
  await expect(persist(work, stop.signal)).rejects.toThrow('aborted');
  expect(work).toHaveBeenCalledOnce();
  expect(pauses).toEqual([1_000]);
});
