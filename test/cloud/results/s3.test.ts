import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ResultKey, resultStore } from '../../../functions/tasks/results/result-store.ts';
import { type Cloud, startCloud } from '../../../local/cloud.ts';
import { temporaryDir, writeAssembly } from '../../../local/test/fixture.ts';
import { isExpired } from '../../../local/testing.ts';

const DAY = 86_400_000;
const assembly = writeAssembly({
  resources: {
    Results: {
      Type: 'AWS::S3::Bucket',
      Properties: {
        BucketEncryption: {},
        PublicAccessBlockConfiguration: { BlockPublicAcls: true },
        LifecycleConfiguration: {
          Rules: [
            { Id: 'a', Status: 'Enabled', Prefix: 'results/', ExpirationInDays: 2 },
            { Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
            { Status: 'Disabled', Prefix: 'kept/', ExpirationInDays: 1 },
          ],
        },
      },
    },
    Policy: { Type: 'AWS::S3::BucketPolicy', Properties: { Bucket: { Ref: 'Results' }, PolicyDocument: {} } },
    Named: { Type: 'AWS::S3::Bucket', Properties: { BucketName: 'named' } },
  },
  more: { Outputs: { Name: { Value: { Ref: 'Results' } }, Arn: { Value: { 'Fn::GetAtt': ['Results', 'Arn'] } } } },
});

const authorization =
  'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x';
const hash = (body: string) => createHash('sha256').update(body).digest('hex');

/** A request as AWS clients send it, with other `headers`; '' leaves one out. */
async function send(cloud: Cloud, method: string, path: string, body = '', headers: Record<string, string> = {}) {
  const all = { authorization, 'x-amz-content-sha256': hash(body), 'x-amz-date': '20260101T000000Z', ...headers };
  const sent = Object.entries(all).filter(([, value]) => value !== '');
  const init = { method, headers: sent, ...(method === 'PUT' && { body }) };
  const response = await fetch(`${cloud.endpoint}${path}`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const code = (text: string) => /<Code>(\w+)<\/Code>/.exec(text)?.[1];

describe('objects', () => {
  let cloud: Cloud;
  let at: string;
  beforeAll(async () => {
    cloud = await startCloud({ assembly, recordCalls: true });
    at = `/${cloud.buckets[0]}`;
  });
  afterAll(() => cloud?.stop());

  test('buckets come from the template, under names S3 would take', () => {
    expect(cloud.buckets).toEqual(['test-results', 'named']);
    expect(cloud.outputs).toEqual({ Name: 'test-results', Arn: 'arn:aws:s3:::test-results' });
  });

  test('put, head, get, replace, delete', async () => {
    const etag = `"${createHash('md5').update('größer').digest('hex')}"`;
    const put = await send(cloud, 'PUT', `${at}/a%20folder/k%C3%A9y`, 'größer', { 'content-type': 'text/plain' });
    expect([put.status, put.headers.get('etag')]).toEqual([200, etag]);
    const head = await send(cloud, 'HEAD', `${at}/a%20folder/k%C3%A9y`);
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'content-length': '8',
      'content-type': 'text/plain',
      etag,
    });
    const got = await send(cloud, 'GET', `${at}/a%20folder/k%C3%A9y?x-id=GetObject`);
    expect([got.status, got.text, got.headers.get('content-length')]).toEqual([200, 'größer', '8']);
    await send(cloud, 'PUT', `${at}/a%20folder/k%C3%A9y`, 'new');
    expect((await send(cloud, 'GET', `${at}/a%20folder/k%C3%A9y`)).text).toBe('new');
    expect((await send(cloud, 'DELETE', `${at}/a%20folder/k%C3%A9y`)).status).toBe(204);
    expect((await send(cloud, 'GET', `${at}/a%20folder/k%C3%A9y`)).status).toBe(404);
    expect((await send(cloud, 'DELETE', `${at}/a%20folder/k%C3%A9y`)).status).toBe(204);
  });

  test('every call is recorded, with its caller and without its body', async () => {
    const mark = cloud.calls.mark();
    await send(cloud, 'PUT', `${at}/k`, 'secret');
    await send(cloud, 'HEAD', `${at}/none`);
    const call = { caller: 'test', service: 's3' };
    expect(cloud.calls.since(mark)).toMatchObject([
      { ...call, operation: 'PutObject', input: { Bucket: 'test-results', Key: 'k' }, status: 200 },
      {
        ...call,
        operation: 'HeadObject',
        input: { Bucket: 'test-results', Key: 'none' },
        status: 404,
        error: 'NoSuchKey',
      },
    ]);
    expect(JSON.stringify(cloud.calls.since(mark))).not.toContain('secret');
  });

  test.each([
    ['a key that is not there', 'GET', '/none', '', {}, 404, 'NoSuchKey'],
    ['a bucket that is not there', 'GET', '/../elsewhere/k', '', {}, 404, 'NoSuchBucket'],
    [
      'a body of another hash',
      'PUT',
      '/k',
      'x',
      { 'x-amz-content-sha256': hash('y') },
      400,
      'XAmzContentSHA256Mismatch',
    ],
    ['a body of another checksum', 'PUT', '/k', 'x', { 'x-amz-checksum-crc32': 'AAAAAA==' }, 400, 'BadDigest'],
    ['a body without a hash', 'PUT', '/k', 'x', { 'x-amz-content-sha256': '' }, 400, 'InvalidRequest'],
    ['the bucket itself', 'GET', '/', '', {}, 501, 'NotImplemented'],
    ['a part of no upload', 'PUT', '/k?partNumber=1&uploadId=2', 'x', {}, 404, 'NoSuchUpload'],
    ['a part of an object', 'GET', '/k?partNumber=1', '', {}, 501, 'NotImplemented'],
    ['a condition', 'PUT', '/k', 'x', { 'if-match': '*' }, 501, 'NotImplemented'],
    ['metadata', 'PUT', '/k', 'x', { 'x-amz-meta-a': 'b' }, 501, 'NotImplemented'],
    ['a copy', 'PUT', '/k', '', { 'x-amz-copy-source': '/named/k' }, 501, 'NotImplemented'],
    ['a streamed body', 'PUT', '/k', 'x', { 'x-amz-content-sha256': 'STREAMING-X' }, 501, 'NotImplemented'],
    ['another method', 'PATCH', '/k', '', {}, 501, 'NotImplemented'],
    ['a malformed path', 'GET', '/%ff', '', {}, 400, 'InvalidURI'],
  ])('refused: %s', async (_name, method, path, body, headers, status, expected) => {
    const answer = await send(cloud, method, `${at}${path}`, body, headers);
    expect([answer.status, code(answer.text)]).toEqual([status, expected]);
    expect(answer.headers.get('content-type')).toBe('application/xml');
  });

  test('every request that is not signed is refused', async () => {
    expect((await send(cloud, 'PUT', `${at}/k2`, 'x', { authorization: '' })).status).toBe(403);
    expect((await send(cloud, 'GET', `${at}/k2`)).status).toBe(404);
  });

  test('a checksum that fits, and an unsigned payload, are taken', async () => {
    expect((await send(cloud, 'PUT', `${at}/k`, '123456789', { 'x-amz-checksum-crc32': 'y/Q5Jg==' })).status).toBe(200);
    expect((await send(cloud, 'PUT', `${at}/k`, 'x', { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' })).status).toBe(200);
  });
});

describe('the store of results against it', () => {
  beforeAll(() => void vi.stubEnv('AWS_ACCESS_KEY_ID', 'test'));
  afterAll(() => void vi.unstubAllEnvs());
  const key: ResultKey = { owner: 'o', taskId: 't', round: 1 };
  const storeIn = ({ buckets: [bucket = ''], endpoint, region }: Cloud) => resultStore({ bucket, endpoint, region });
  const large = JSON.stringify('größer 𝄞'.repeat(400_000));

  test.each([['in memory'], ['on disk']])(
    '%s: an object is stored, read, and expires by the clock of the cloud',
    async (where) => {
      let now = Date.UTC(2026, 0, 1, 12);
      const dataDir = where === 'on disk' ? temporaryDir() : undefined;
      const cloud = await startCloud({ assembly, now: () => now, ...(dataDir !== undefined && { dataDir }) });
      const store = storeIn(cloud);
      await store.put(key, large);
      await send(cloud, 'PUT', '/named/results/k', 'no rule here');
      expect(await store.get(key)).toBe(large);

      now = Date.UTC(2026, 0, 4) - 1;
      expect(await cloud.sweepExpired()).toBe(0);
      now = Date.UTC(2026, 0, 4);
      expect(await cloud.sweepExpired()).toBe(1);
      await expect(store.get(key)).rejects.toMatchObject({ code: 'NoSuchKey' });
      expect((await send(cloud, 'GET', '/named/results/k')).text).toBe('no rule here');
      if (dataDir !== undefined) expect(readdirSync(join(dataDir, 's3', 'test-results'))).toEqual([]);
      await cloud.stop();
    },
  );

  test('the sweep runs by itself', async () => {
    let now = Date.now();
    const cloud = await startCloud({ assembly, now: () => now, ttlSweepMs: 20 });
    await storeIn(cloud).put(key, '1');
    now += 4 * DAY;
    await expect
      .poll(() =>
        storeIn(cloud)
          .get(key)
          .catch(({ code }) => code),
      )
      .toBe('NoSuchKey');
    await cloud.stop();
  });

  test('a restart on the same data keeps every object and drops a half-written one', async () => {
    const dataDir = temporaryDir();
    const before = await startCloud({ assembly, dataDir });
    await storeIn(before).put(key, large);
    await storeIn(before).put({ ...key, round: 2 }, '2');
    const [folder = ''] = before.buckets;
    await before.stop();
    writeFileSync(join(dataDir, 's3', folder, `${'0'.repeat(64)}.new`), '{"key":"results/h');

    const after = await startCloud({ assembly, dataDir });
    expect(await storeIn(after).get(key)).toBe(large);
    expect(await storeIn(after).get({ ...key, round: 2 })).toBe('2');
    await after.stop();
  });
});

test('an object expires at the midnight after its days, as S3 counts them', () => {
  const rule = [{ prefix: 'results/', days: 2 }];
  const written = { key: 'results/k', modifiedAt: Date.UTC(2026, 0, 1, 0, 0, 1) };
  expect(isExpired(written, rule, Date.UTC(2026, 0, 4) - 1)).toBe(false);
  expect(isExpired(written, rule, Date.UTC(2026, 0, 4))).toBe(true);
  expect(isExpired({ ...written, modifiedAt: Date.UTC(2026, 0, 1) }, rule, Date.UTC(2026, 0, 3))).toBe(true);
  expect(isExpired({ ...written, key: 'other/k' }, rule, Date.UTC(2027, 0, 1))).toBe(false);
});

test('settings that it cannot honour are refused at start, by name', async () => {
  const versioned = writeAssembly({
    resources: { B: { Type: 'AWS::S3::Bucket', Properties: { VersioningConfiguration: { Status: 'Enabled' } } } },
  });
  await expect(startCloud({ assembly: versioned })).rejects.toThrow(
    'the property VersioningConfiguration of AWS::S3::Bucket',
  );
});
