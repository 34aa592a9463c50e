import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { storeIfLarge } from '../../../../functions/tasks/results/large-result.ts';
import { measured, storedResult } from '../../../../functions/tasks/results/result-ref.ts';
import { objectKey, type ResultKey, ResultStoreError } from '../../../../functions/tasks/results/result-store.ts';
import { close, listen } from '../../../../local/testing.ts';

const task = { taskId: 't', owner: 'o', table: 'tasks', results: 'bucket', round: 1, attempt: 0, deadline: 0 };
const { inline, stored } = limits.result;
/** JSON text of exactly so many bytes. */
const json = (bytes: number) => 'x'.repeat(bytes - 2);

function recorder() {
  const puts: { bucket: string; key: unknown; text: string }[] = [];
  const storeOf = (bucket: string) => ({
    put: async (key: unknown, text: string) => void puts.push({ bucket, key, text }),
  });
  return { puts, storeOf };
}

describe('storeIfLarge', () => {
  test('any value that a workflow carries goes unchanged', async () => {
    const { puts, storeOf } = recorder();
    for (const value of [null, undefined, 0, 'text', [], { content: [] }, json(inline)]) {
      expect(await storeIfLarge(value, task, storeOf)).toBe(value);
    }
    expect(puts).toEqual([]);
  });

  test('a result that S3 refuses is returned, if the workflow can carry it: the work is done', async () => {
    const refuse = () => ({ put: () => Promise.reject(new ResultStoreError('stored', 'SlowDown')) });
    const { carried } = limits.result;
    expect(await storeIfLarge(json(carried), task, refuse)).toBe(json(carried));
    await expect(storeIfLarge(json(carried + 1), task, refuse)).rejects.toThrow(ResultStoreError);
  });

  test('a result that the workflow cannot carry is stored once S3 takes it again', async () => {
    const { puts, storeOf } = recorder();
    const slow = new ResultStoreError('stored', 'SlowDown', { httpStatusCode: 503 });
    const put = vi.fn(storeOf('B').put).mockRejectedValueOnce(slow);
    expect(await storeIfLarge(json(limits.result.carried + 1), task, () => ({ put }))).toHaveProperty('resultRef');
    expect(puts).toHaveLength(1);
  });

  test('two runs of one round on Express store theirs in two places, each with its own reference', async () => {
    const { puts, storeOf } = recorder();
    const [first, second] = [
      { ...task, run: '3f1c9a52-7d0e-4b6a-9c11-0a5e8d2f4b10' },
      { ...task, run: '3f1c9a52-7d0e-4b6a-9c11-0a5e8d2f4b11' },
    ];
    const value = json(inline + 1);
    const refs = [await storeIfLarge(value, first, storeOf), await storeIfLarge(value, second, storeOf)];
    expect(refs.map((ref) => storedResult(JSON.stringify(ref))?.run)).toEqual([first.run, second.run]);
    expect(new Set(puts.map(({ key }) => objectKey(key as ResultKey))).size).toBe(2);
    const ref = refs[0] as { resultRef: object };
    for (const run of ['', 'a1', first.run.toUpperCase(), `../${first.run.slice(3)}`, `${first.run}0`, 7]) {
      expect(storedResult(JSON.stringify({ resultRef: { ...ref.resultRef, run } }))).toBeUndefined();
    }
  });

  test('what is larger is stored, byte for byte, and a reference goes', async () => {
    const { puts, storeOf } = recorder();
    const value = { content: [{ type: 'text', text: `${json(inline)} größer 𝄞` }] };
    const text = JSON.stringify(value);
    const ref = await storeIfLarge(value, task, storeOf);
    const sha256 = createHash('sha256').update(text).digest('hex');
    expect(ref).toEqual({ resultRef: { bytes: Buffer.byteLength(text), sha256 } });
    expect(puts).toEqual([{ bucket: 'bucket', key: task, text }]);
    expect(storedResult(JSON.stringify(ref))).toEqual({ bytes: Buffer.byteLength(text), attempt: 0, sha256 });
  });

  test('a reference to an error says so: the workflow reads it there (F-06)', async () => {
    const { storeOf } = recorder();
    const ref = await storeIfLarge({ content: [], isError: true, more: json(inline) }, task, storeOf);
    expect(ref).toMatchObject({ isError: true });
    expect(storedResult(JSON.stringify(ref))?.bytes).toBeGreaterThan(inline);
  });

  test('a retry stores beside the try before it, and its reference says so', async () => {
    const { puts, storeOf } = recorder();
    const again = { ...task, attempt: 2 };
    const ref = { ...measured(JSON.stringify(json(stored))), attempt: 2 };
    expect(await storeIfLarge(json(stored), again, storeOf)).toEqual({ resultRef: ref });
    expect(puts).toMatchObject([{ key: again }]);
  });

  test('stores up to the limit, to the byte; over it an error has reason and remedy, no object', async () => {
    const { puts, storeOf } = recorder();
    expect(await storeIfLarge(json(stored), task, storeOf)).toMatchObject({ resultRef: { bytes: stored } });
    expect(puts).toHaveLength(1);
    const refused = await storeIfLarge(json(stored + 1), task, storeOf);
    expect(refused).toEqual({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/6000001 bytes .* 6000000 at most\. .*resource_link/) }],
    });
    expect(puts).toHaveLength(1);
  });

  test('a direct call stores nothing: Lambda carries as much, and the limit is the same', async () => {
    const { puts, storeOf } = recorder();
    const value = json(stored);
    expect(await storeIfLarge(value, undefined, storeOf)).toBe(value);
    expect(await storeIfLarge(json(stored + 1), undefined, storeOf)).toMatchObject({ isError: true });
    expect(puts).toEqual([]);
  });

  test('what cannot be stored is not a result', async () => {
    const put = () => Promise.reject(new Error('S3 is down'));
    await expect(storeIfLarge(json(inline + 1), task, () => ({ put }))).rejects.toThrow('S3 is down');
  });
});

describe('the bucket of the task', () => {
  afterEach(() => void vi.unstubAllEnvs());

  test('gets what is large, over one connection for as long as the container lives', async () => {
    const urls: unknown[] = [];
    let connections = 0;
    const s3 = createServer((request, response) => {
      urls.push(request.url?.split('/')[1]);
      request.resume().on('end', () => response.end());
    }).on('connection', () => void connections++);
    vi.stubEnv('AWS_ENDPOINT_URL_S3', await listen(s3, 0));
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
    for (const _ of [1, 2]) expect(await storeIfLarge(json(inline + 1), task)).toHaveProperty('resultRef');
    await close(s3);
    expect([urls, connections]).toEqual([['bucket', 'bucket'], 1]);
  });
});

test('only a result that says isError: true refers to an error', async () => {
  const { storeOf } = recorder();
  const more = json(inline);
  const refOf = (isError: unknown) => storeIfLarge({ isError, more }, task, storeOf);
  expect(await refOf(true)).toHaveProperty('isError', true);
  for (const isError of [false, 'true', undefined]) expect(await refOf(isError)).not.toHaveProperty('isError');
  expect(await storeIfLarge([more], task, storeOf)).not.toHaveProperty('isError');
});
