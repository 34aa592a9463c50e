import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { Bucket, filesAssembly, refusal, send } from './support.ts';

const AT = Date.UTC(2026, 0, 1, 12);
const HTTP = new Date(AT).toUTCString();
const OTHER = new Date(AT - 1_000).toUTCString();
let cloud: Cloud;
let etag = '';
beforeAll(async () => {
  cloud = await startCloud({ assembly: filesAssembly(), now: () => AT });
  const put = await send(cloud, 'PUT', `/${Bucket}/k`, {}, Buffer.from('0123456789'));
  etag = put.headers.get('etag') ?? '';
  await send(cloud, 'PUT', `/${Bucket}/empty`, {}, Buffer.alloc(0));
});
afterAll(() => cloud?.stop());

describe('a range', () => {
  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=7-99', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
  ])('%s', async (range, text, contentRange) => {
    const answer = await send(cloud, 'GET', `/${Bucket}/k`, { range });
    expect([answer.status, await answer.text()]).toEqual([206, text]);
    expect(answer.headers.get('content-range')).toBe(contentRange);
    const head = await send(cloud, 'HEAD', `/${Bucket}/k`, { range });
    expect([head.status, head.headers.get('content-length')]).toEqual([206, String(text.length)]);
  });

  test.each(['bytes=0-1,3-4', 'bytes=4-2', 'bytes=-', 'bytes=a-b', 'items=0-1', 'bytes 0-1'])(
    'is ignored: %s',
    async (range) => {
      const answer = await send(cloud, 'GET', `/${Bucket}/k`, { range });
      expect([answer.status, await answer.text()]).toEqual([200, '0123456789']);
    },
  );

  test.each([
    ['k', 'bytes=10-'],
    ['k', 'bytes=10-12'],
    ['k', 'bytes=-0'],
    ['empty', 'bytes=0-0'],
    ['empty', 'bytes=-1'],
  ])('of %s is refused: %s', async (key, range) => {
    const answer = await send(cloud, 'GET', `/${Bucket}/${key}`, { range });
    expect(await refusal(answer)).toEqual([416, 'InvalidRange', 'The requested range is not satisfiable']);
  });

  test.each([
    ['its tag', () => etag, 206],
    ['its time', () => HTTP, 206],
    ['another tag', () => '"x"', 200],
    ['another time', () => OTHER, 200],
  ])('that counts only for %s', async (_what, unless, status) => {
    const headers = { range: 'bytes=0-1', 'if-range': unless() };
    expect((await send(cloud, 'GET', `/${Bucket}/k`, headers)).status).toBe(status);
  });

  test('has no checksum of the whole object', async () => {
    const sum = { 'x-amz-checksum-crc32': 'poTHxg==' };
    expect((await send(cloud, 'PUT', `/${Bucket}/sum`, sum, Buffer.from('0123456789'))).status).toBe(200);
    const get = (headers: Record<string, string>) =>
      send(cloud, 'GET', `/${Bucket}/sum`, headers).then((answer) => answer.headers.get('x-amz-checksum-crc32'));
    expect(await get({ 'x-amz-checksum-mode': 'ENABLED' })).toBe('poTHxg==');
    expect(await get({ 'x-amz-checksum-mode': 'ENABLED', range: 'bytes=0-1' })).toBeNull();
    expect(await get({})).toBeNull();
  });
});

describe('a condition', () => {
  test.each([
    ['if-match', () => etag, 200],
    ['if-match', () => '"x"', 412],
    ['if-match', () => '*', 200],
    ['if-none-match', () => `"x", W/${etag}`, 304],
    ['if-none-match', () => '"x"', 200],
    ['if-modified-since', () => HTTP, 304],
    ['if-modified-since', () => OTHER, 200],
    ['if-modified-since', () => 'x', 200],
    ['if-unmodified-since', () => HTTP, 200],
    ['if-unmodified-since', () => OTHER, 412],
  ])('%s', async (name, value, status) => {
    const answer = await send(cloud, 'GET', `/${Bucket}/k`, { [name]: value() });
    expect([answer.status, (await answer.text()).length > 0]).toEqual([status, status !== 304]);
  });

  test('by tag counts before one by time', async () => {
    const both = { 'if-match': etag, 'if-unmodified-since': OTHER };
    expect((await send(cloud, 'GET', `/${Bucket}/k`, both)).status).toBe(200);
    const none = { 'if-none-match': '"x"', 'if-modified-since': HTTP };
    expect((await send(cloud, 'GET', `/${Bucket}/k`, none)).status).toBe(200);
  });
});

test.each([
  ['GET', `/${Bucket}?list-type=2`, 'ListObjectsV2'],
  ['GET', `/${Bucket}`, 'ListObjects'],
  ['POST', `/${Bucket}?delete`, 'DeleteObjects'],
  ['HEAD', `/${Bucket}`, undefined],
  ['GET', `/${Bucket}/k?tagging`, 'GetObjectTagging'],
  ['PUT', `/${Bucket}/k?acl`, 'PutObjectAcl'],
  ['GET', `/${Bucket}?versioning`, 'GetBucketVersioning'],
  ['POST', `/${Bucket}/k?select&x-id=SelectObjectContent`, 'SelectObjectContent'],
  ['GET', '/', 'ListBuckets'],
])('an operation that is not known is refused by its name: %s %s', async (method, path, name) => {
  const answer = await send(cloud, method, path);
  const message = name && `the embedded cloud does not know ${name} of S3`;
  expect(await refusal(answer)).toEqual([501, name && 'NotImplemented', message]);
});

test('a key of more than 1,024 bytes is refused', async () => {
  expect((await send(cloud, 'PUT', `/${Bucket}/${'k'.repeat(1_024)}`, {}, Buffer.from('x'))).status).toBe(200);
  const answer = await send(cloud, 'PUT', `/${Bucket}/${'k'.repeat(1_025)}`, {}, Buffer.from('x'));
  expect(await refusal(answer)).toEqual([400, 'KeyTooLongError', 'Your key is too long']);
});
