import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { functionResource } from '../fixture.ts';
import { allow, role } from '../iam/stack.ts';
import { Bucket, filesAssembly, s3Client } from './support.ts';

const files = `arn:aws:s3:::${Bucket}/files/*`;
const onlyNew = [
  allow('s3:PutObject', files, { Condition: { Null: { 's3:if-none-match': 'false' } } }),
  allow('s3:PutObject', files, { Condition: { Bool: { 's3:ObjectCreationOperation': 'false' } } }),
];

let cloud: Cloud;
beforeAll(async () => {
  const assembly = filesAssembly(
    {
      Tool: functionResource('code', { Role: { 'Fn::GetAtt': ['ToolRole', 'Arn'] } }),
      ToolRole: role('lambda', onlyNew),
    },
    { code: 'export const handler = async () => 1;' },
  );
  cloud = await startCloud({ assembly });
});
afterAll(() => cloud?.stop());

const s3 = (caller?: string) => s3Client(cloud, caller);
const put = (Key: string, Body: string, IfNoneMatch?: string, caller?: string) =>
  s3(caller).send(new PutObjectCommand({ Bucket, Key, Body, ...(IfNoneMatch && { IfNoneMatch }) }));
const read = async (Key: string) => {
  const { Body } = await s3().send(new GetObjectCommand({ Bucket, Key }));
  return Body?.transformToString();
};
async function upload(Key: string, text: string, IfNoneMatch?: string, caller?: string) {
  const client = s3(caller);
  const begun = { Bucket, Key, ChecksumAlgorithm: 'CRC32' } as const;
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(begun));
  const part = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: text });
  const { ETag, ChecksumCRC32 } = await client.send(part);
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumCRC32 }] };
  const completed = { Bucket, Key, UploadId, MultipartUpload, ...(IfNoneMatch && { IfNoneMatch }) };
  await client.send(new CompleteMultipartUploadCommand(completed));
}
const nameOf = (done: Promise<unknown>) =>
  done.then(
    () => 'done',
    ({ name, $metadata }) => [name, $metadata.httpStatusCode],
  );

describe('If-None-Match of a write', () => {
  test('lets an object be made, and no object be replaced', async () => {
    expect(await nameOf(put('a', 'first', '*'))).toBe('done');
    expect(await nameOf(put('a', 'second', '*'))).toEqual(['PreconditionFailed', 412]);
    expect(await nameOf(upload('a', 'third', '*'))).toEqual(['PreconditionFailed', 412]);
    expect(await read('a')).toBe('first');
    // Its parts wait for another try, or for the rule that aborts uploads.
    expect((await s3().send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toHaveLength(1);
    expect(await nameOf(upload('b', 'first', '*'))).toBe('done');
    expect(await nameOf(put('b', 'second', '*'))).toEqual(['PreconditionFailed', 412]);
    expect(await nameOf(put('b', 'third'))).toBe('done');
    expect(await read('b')).toBe('third');
  });

  test('lets one of several writes at the same time make the object', async () => {
    const done = await Promise.all(['1', '2', '3'].map((text) => nameOf(put('race', text, '*'))));
    expect(done.filter((one) => one === 'done')).toHaveLength(1);
  });

  test('is * or not implemented', async () => {
    expect(await nameOf(put('c', 'x', '"etag"'))).toEqual(['NotImplemented', 501]);
  });
});

describe('a policy that allows new objects only', () => {
  test('allows what has the header, and the parts of an upload, which have none', async () => {
    expect(await nameOf(put('files/a', 'x', '*', 'Tool'))).toBe('done');
    expect(await nameOf(upload('files/b', 'x', '*', 'Tool'))).toBe('done');
  });

  test('denies what has no header, whether the object is there or not', async () => {
    for (const key of ['files/a', 'files/new']) {
      expect(await nameOf(put(key, 'y', undefined, 'Tool'))).toEqual(['AccessDenied', 403]);
      expect(await nameOf(upload(key, 'y', undefined, 'Tool'))).toEqual(['AccessDenied', 403]);
    }
    expect(await read('files/a')).toBe('x');
  });
});
