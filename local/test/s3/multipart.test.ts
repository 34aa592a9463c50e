import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { temporaryDir } from '../fixture.ts';
import { Bucket, DAY, filesAssembly, PART, s3Client, send } from './support.ts';

const assembly = filesAssembly();
const dataDir = temporaryDir();
const NOON = Date.UTC(2026, 0, 1, 12);
let now = NOON;
let cloud: Cloud;
const start = () => startCloud({ assembly, dataDir, now: () => now });
beforeAll(async () => {
  cloud = await start();
});
afterAll(() => cloud?.stop());

const s3 = () => s3Client(cloud);
const begin = async (Key: string, ChecksumAlgorithm: 'CRC32' | 'SHA256' = 'CRC32') => {
  const { UploadId } = await s3().send(new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm }));
  return { Bucket, Key, UploadId };
};
type Upload = Awaited<ReturnType<typeof begin>>;
const part = async (upload: Upload, PartNumber: number, Body: Buffer): Promise<CompletedPart> => {
  const { ETag, ChecksumCRC32 } = await s3().send(new UploadPartCommand({ ...upload, PartNumber, Body }));
  return { PartNumber, ETag, ChecksumCRC32 };
};
const complete = (upload: Upload, Parts: CompletedPart[]) =>
  s3().send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
const read = async (Key: string) => {
  const { Body } = await s3().send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};
const sizeOf = async (Key: string) => (await s3().send(new HeadObjectCommand({ Bucket, Key }))).ContentLength;
const filesOf = () => readdirSync(join(dataDir, 's3', Bucket));
const md5 = (...bodies: Buffer[]) => createHash('md5').update(Buffer.concat(bodies)).digest();
const named = (name: string, status = 400) =>
  expect.objectContaining({ name, $metadata: expect.objectContaining({ httpStatusCode: status }) });

describe('an upload in parts', () => {
  test('is an object once it is complete, and not before', async () => {
    const upload = await begin('k');
    // The parts arrive in another order, and one of them twice.
    const last = await part(upload, 7, Buffer.from('the end'));
    await part(upload, 2, Buffer.alloc(PART.length));
    const [first, second] = await Promise.all([part(upload, 1, PART), part(upload, 2, PART)]);
    await expect(read('k')).rejects.toEqual(named('NoSuchKey', 404));
    const made = await complete(upload, [first, second, last]);
    const etag = md5(md5(PART), md5(PART), md5(Buffer.from('the end'))).toString('hex');
    expect(made).toMatchObject({ ETag: `"${etag}-3"`, ChecksumType: 'COMPOSITE', Bucket, Key: 'k' });
    expect(await read('k')).toEqual(Buffer.concat([PART, PART, Buffer.from('the end')]));
    const head = await s3().send(new HeadObjectCommand({ Bucket, Key: 'k', ChecksumMode: 'ENABLED' }));
    expect(head).toMatchObject({ ETag: made.ETag, ContentLength: 2 * PART.length + 7, ChecksumType: 'COMPOSITE' });
    expect(head.ChecksumCRC32).toMatch(/^.{8}-3$/);
    const across = await send(cloud, 'GET', `/${Bucket}/k`, {
      range: `bytes=${2 * PART.length - 2}-${2 * PART.length}`,
    });
    expect(await across.text()).toBe(`${PART.subarray(-2)}t`);
  });

  test('leaves the older object as it is until then, and no byte of it afterwards', async () => {
    await s3().send(new PutObjectCommand({ Bucket, Key: 'older', Body: 'older' }));
    const before = filesOf().length;
    const upload = await begin('older');
    const only = await part(upload, 1, Buffer.from('newer'));
    expect(String(await read('older'))).toBe('older');
    await complete(upload, [only]);
    expect(String(await read('older'))).toBe('newer');
    expect(filesOf()).toHaveLength(before);
  });

  test('may have one small part, and SHA-256 as its checksum', async () => {
    const upload = await begin('sha', 'SHA256');
    const sent = { ...upload, PartNumber: 3, Body: 'x', ChecksumAlgorithm: 'SHA256' } as const;
    const { ETag, ChecksumSHA256 } = await s3().send(new UploadPartCommand(sent));
    const sha256 = (body: Buffer | string) => createHash('sha256').update(body).digest();
    expect(ChecksumSHA256).toBe(sha256('x').toString('base64'));
    const { ChecksumSHA256: composite } = await complete(upload, [{ PartNumber: 3, ETag, ChecksumSHA256 }]);
    expect(composite).toBe(`${sha256(sha256('x')).toString('base64')}-1`);
  });

  test('keeps the type and the headers of its beginning', async () => {
    const headers = { ContentType: 'video/mp4', ContentDisposition: 'inline', CacheControl: 'no-store' };
    const upload = { Bucket, Key: 'typed' };
    const begun = await s3().send(
      new CreateMultipartUploadCommand({ ...upload, ...headers, ChecksumAlgorithm: 'CRC32' }),
    );
    const whole = { ...upload, UploadId: begun.UploadId };
    await complete(whole, [await part(whole, 1, Buffer.from('x'))]);
    expect(await s3().send(new HeadObjectCommand(upload))).toMatchObject(headers);
  });
});

describe('a completion is refused', () => {
  let upload: Upload;
  let small: CompletedPart;
  let large: CompletedPart;
  beforeAll(async () => {
    upload = await begin('refused');
    small = await part(upload, 1, Buffer.from('small'));
    large = await part(upload, 2, PART);
  });

  test.each([
    ['for a small part before the last', 'EntityTooSmall', () => [small, large]],
    ['for parts out of order', 'InvalidPartOrder', () => [large, small]],
    ['for a part that is listed twice', 'InvalidPartOrder', () => [large, large]],
    ['for a part that was not sent', 'InvalidPart', () => [{ ...large, PartNumber: 3 }]],
    ['for another tag', 'InvalidPart', () => [{ ...large, ETag: '"x"' }]],
    ['for another checksum', 'InvalidPart', () => [{ ...large, ChecksumCRC32: 'AAAAAA==' }]],
    ['without the checksums of its beginning', 'InvalidRequest', () => [{ PartNumber: 2, ETag: large.ETag }]],
    ['without parts', 'MalformedXML', () => []],
  ])('%s', async (_why, code, parts) => {
    await expect(complete(upload, parts())).rejects.toEqual(named(code));
    await expect(sizeOf('refused')).rejects.toEqual(named('NotFound', 404));
  });

  test('and the upload can still be completed', async () => {
    await complete(upload, [large]);
    expect(await sizeOf('refused')).toBe(PART.length);
  });
});

describe('a part is refused', () => {
  test.each([0, 10_001, 1.5])('with the number %s', async (number) => {
    const { UploadId } = await begin('numbers');
    const answer = await send(cloud, 'PUT', `/${Bucket}/numbers?partNumber=${number}&uploadId=${UploadId}`, {}, PART);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('<Code>InvalidArgument<')]);
  });

  test('with a checksum that its upload did not announce', async () => {
    const { UploadId } = await s3().send(new CreateMultipartUploadCommand({ Bucket, Key: 'plain' }));
    const upload = { Bucket, Key: 'plain', UploadId };
    const message = 'Checksum Type mismatch occurred, expected checksum Type: null, actual checksum Type: crc32';
    await expect(part(upload, 1, PART)).rejects.toThrow(message);
  });

  test('beyond 5 GiB, before it is sent', async () => {
    const { UploadId } = await begin('large');
    const path = `/${Bucket}/large?partNumber=1&uploadId=${UploadId}`;
    const headers = {
      'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'x-amz-decoded-content-length': String(5 * 1024 ** 3 + 1),
    };
    const answer = await send(cloud, 'PUT', path, headers, Buffer.from('0\r\n\r\n'));
    expect(await answer.text()).toContain('<Code>EntityTooLarge</Code>');
  });
});

test('an upload that is over, aborted, or of another key is no longer there', async () => {
  const done = await begin('done');
  await complete(done, [await part(done, 1, Buffer.from('x'))]);
  const aborted = await begin('aborted');
  await part(aborted, 1, PART);
  const before = filesOf().length;
  await s3().send(new AbortMultipartUploadCommand(aborted));
  expect(filesOf()).toHaveLength(before - 2);
  const other = { ...(await begin('mine')), Key: 'yours' };
  for (const upload of [done, aborted, other]) {
    const calls = [part(upload, 1, PART), s3().send(new AbortMultipartUploadCommand(upload)), complete(upload, [{}])];
    const [sent, ended] = await Promise.allSettled(calls);
    for (const result of [sent, ended]) expect(result).toMatchObject({ reason: named('NoSuchUpload', 404) });
    await expect(s3().send(new ListPartsCommand(upload))).rejects.toEqual(named('NoSuchUpload', 404));
  }
});

test('uploads and their parts are listed by page', async () => {
  const [a, b] = [await begin('list/a'), await begin('list/b')];
  for (const number of [9, 3, 5]) await part(a, number, Buffer.from('x'));
  const first = await s3().send(new ListPartsCommand({ ...a, MaxParts: 2 }));
  expect(first).toMatchObject({
    IsTruncated: true,
    NextPartNumberMarker: '5',
    Parts: [{ PartNumber: 3 }, { Size: 1 }],
  });
  const second = await s3().send(new ListPartsCommand({ ...a, PartNumberMarker: first.NextPartNumberMarker }));
  expect(second).toMatchObject({ IsTruncated: false, Parts: [{ PartNumber: 9 }] });
  const list = { Bucket, Prefix: 'list/' };
  const page = await s3().send(new ListMultipartUploadsCommand({ ...list, MaxUploads: 1 }));
  expect(page).toMatchObject({ IsTruncated: true, Uploads: [{ Key: 'list/a', UploadId: a.UploadId }] });
  const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
  const rest = await s3().send(new ListMultipartUploadsCommand({ ...list, KeyMarker, UploadIdMarker }));
  expect(rest).toMatchObject({ IsTruncated: false, Uploads: [{ Key: 'list/b', UploadId: b.UploadId }] });
});

test('an upload outlives a restart, and ends by the lifecycle rule of its prefix', async () => {
  const upload = await begin('files/film');
  const other = await begin('kept/film');
  const [first] = [await part(upload, 1, PART), await part(other, 1, PART)];
  await cloud.stop();
  cloud = await start();
  const last = await part(upload, 2, Buffer.from('end'));
  expect((await s3().send(new ListPartsCommand(upload))).Parts).toMatchObject([{ Size: PART.length }, { Size: 3 }]);

  now = Date.UTC(2026, 0, 3) - 1;
  expect(await cloud.sweepExpired()).toBe(0);
  now = Math.ceil((NOON + DAY) / DAY) * DAY;
  expect(await cloud.sweepExpired()).toBe(1);
  await expect(complete(upload, [first, last])).rejects.toEqual(named('NoSuchUpload', 404));
  expect(filesOf().filter((name) => name.startsWith(String(upload.UploadId)))).toEqual([]);
  expect((await s3().send(new ListPartsCommand(other))).Parts).toHaveLength(1);
});
