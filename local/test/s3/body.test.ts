import { Readable } from 'node:stream';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { Bucket, filesAssembly, refusal, s3Client, send } from './support.ts';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ assembly: filesAssembly() });
});
afterAll(() => cloud?.stop());

test('the official client sends a stream in chunks, with its checksum behind it', async () => {
  const body = Buffer.alloc(300_000, 'chunk');
  const at = { Bucket, Key: 'streamed' };
  const sent = { ...at, Body: Readable.from([body.subarray(0, 65_536), body.subarray(65_536)]) };
  const put = await s3Client(cloud).send(new PutObjectCommand({ ...sent, ContentLength: body.length }));
  expect(put).toMatchObject({ ChecksumType: 'FULL_OBJECT' });
  const got = await s3Client(cloud).send(new GetObjectCommand(at));
  expect(got.ChecksumCRC32).toBe(put.ChecksumCRC32);
  expect(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(body)).toBe(true);
});

const HEADERS = {
  'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'x-amz-trailer': 'x-amz-checksum-crc32',
  'x-amz-decoded-content-length': '10',
  'content-encoding': 'aws-chunked',
};
const SUM = 'x-amz-checksum-crc32:poTHxg==';
const put = (text: string, headers: Record<string, string> = {}) =>
  send(cloud, 'PUT', `/${Bucket}/k`, { ...HEADERS, ...headers }, Buffer.from(text));

test('a chunked body is kept without its frame', async () => {
  expect((await put(`a\r\n0123456789\r\n0\r\n${SUM}\r\n\r\n`)).status).toBe(200);
  const got = await send(cloud, 'GET', `/${Bucket}/k`);
  expect([await got.text(), got.headers.get('content-encoding')]).toEqual(['0123456789', null]);
});

test.each([
  ['another checksum', `a\r\n0123456789\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n`, {}, 'BadDigest'],
  ['no checksum', 'a\r\n0123456789\r\n0\r\n\r\n', {}, 'BadDigest'],
  ['a trailer that was not announced', `a\r\n0123456789\r\n0\r\n${SUM}\r\nx-b: c\r\n\r\n`, {}, 'MalformedTrailerError'],
  ['fewer bytes', `9\r\n012345678\r\n0\r\n${SUM}\r\n\r\n`, {}, 'IncompleteBody'],
  ['more bytes', `b\r\n0123456789a\r\n0\r\n${SUM}\r\n\r\n`, {}, 'IncompleteBody'],
  ['no end', 'a\r\n0123456789\r\n', {}, 'IncompleteBody'],
  ['a size that is none', 'x\r\n0123456789\r\n0\r\n\r\n', {}, 'IncompleteBody'],
  ['a small chunk before the last', `5\r\n01234\r\n5\r\n56789\r\n0\r\n${SUM}\r\n\r\n`, {}, 'InvalidChunkSizeError'],
  [
    'no length',
    `a\r\n0123456789\r\n0\r\n${SUM}\r\n\r\n`,
    { 'x-amz-decoded-content-length': '' },
    'MissingContentLength',
  ],
  ['a checksum that is not known here', '0\r\n\r\n', { 'x-amz-trailer': 'x-amz-checksum-crc64nvme' }, 'NotImplemented'],
])('a chunked body is refused: %s', async (_what, text, headers, code) => {
  await send(cloud, 'PUT', `/${Bucket}/k`, {}, Buffer.from('before'));
  expect((await refusal(await put(text, headers)))[1]).toBe(code);
  expect(await (await send(cloud, 'GET', `/${Bucket}/k`)).text()).toBe('before');
});
