import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterEach, expect, test } from 'vitest';
import { startCloud } from '../../cloud.ts';
import { temporaryDir } from '../fixture.ts';
import { Bucket, filesAssembly, PART, presign, type Reached, s3Client } from './support.ts';

interface Said extends Reached {
  readonly maxRssMb: number;
}

let child: ChildProcess | undefined;
const dataDirs: string[] = [];
const newDataDir = () => dataDirs[dataDirs.push(temporaryDir()) - 1] ?? '';
afterEach(async () => {
  // Without its parent the process ends, and removes its temporary folder.
  if (child?.connected) await Promise.all([once(child, 'exit'), child.disconnect()]);
  for (const dataDir of dataDirs.splice(0)) rmSync(dataDir, { recursive: true, force: true });
});
async function startProcess(dataDir = '') {
  const started = fork(join(import.meta.dirname, 'cloud-process.ts'), [dataDir], { execArgv: [] });
  child = started;
  const said = async () => (await once(started, 'message'))[0] as Said;
  const ask = () => {
    started.send('memory');
    return said();
  };
  return { process: started, cloud: await said(), maxRssMb: async () => (await ask()).maxRssMb };
}

const Key = 'files/film.mp4';
const begin = async (cloud: Reached) => {
  const { UploadId } = await s3Client(cloud).send(
    new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm: 'CRC32' }),
  );
  const upload = { Bucket, Key, UploadId };
  const part = async (PartNumber: number, Body: Buffer) => {
    const { ETag, ChecksumCRC32 } = await s3Client(cloud).send(new UploadPartCommand({ ...upload, PartNumber, Body }));
    return { PartNumber, ETag, ChecksumCRC32 };
  };
  return { upload, part };
};

// 300 MB in ten parts. The process has some 150 MB before.
const LARGE = { parts: 10, partMb: 30, mayGrowMb: 120 };

test.each(['in a temporary folder', 'in a data folder'])('300 MB %s never are in memory as a whole', async (where) => {
  const { cloud, maxRssMb } = await startProcess(where === 'in a data folder' ? newDataDir() : '');
  const before = await maxRssMb();
  const { upload, part } = await begin(cloud);
  const hash = createHash('sha256');
  const Parts = [];
  for (let number = 1; number <= LARGE.parts; number++) {
    const body = Buffer.alloc(LARGE.partMb * 1024 ** 2, `${number} `);
    hash.update(body);
    Parts.push(await part(number, body));
  }
  await s3Client(cloud).send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));

  const answer = await fetch(await presign(cloud, `/${Bucket}/${Key}`, { at: Date.now() }));
  const got = createHash('sha256');
  for await (const piece of answer.body ?? []) got.update(piece);
  expect(got.digest('hex')).toBe(hash.digest('hex'));
  expect((await maxRssMb()) - before).toBeLessThan(LARGE.mayGrowMb);
});

test('kill -9 in the middle of an upload leaves no object, and nothing past a day', async () => {
  const dataDir = newDataDir();
  const { process: killed, cloud } = await startProcess(dataDir);
  const { upload, part } = await begin(cloud);
  const first = await part(1, PART);
  // Half of a part, and half of an object.
  for (const path of [`/${Bucket}/${Key}?partNumber=2&uploadId=${upload.UploadId}`, `/${Bucket}/files/half`]) {
    const authorization = 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, Signature=x';
    const headers = { authorization, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'content-length': PART.length };
    const half = request(`${cloud.endpoint}${path}`, { method: 'PUT', headers }).on('error', () => undefined);
    half.write(PART.subarray(0, PART.length / 2));
  }
  const folder = join(dataDir, 's3', Bucket);
  await expect.poll(() => readdirSync(folder).filter((name) => name.endsWith('.bytes')).length).toBe(2);
  killed.kill('SIGKILL');
  await once(killed, 'exit');

  let now = Date.now();
  const after = await startCloud({ assembly: filesAssembly(), dataDir, now: () => now });
  const s3 = s3Client(after);
  for (const key of [Key, 'files/half']) {
    await expect(s3.send(new GetObjectCommand({ Bucket, Key: key }))).rejects.toMatchObject({ name: 'NoSuchKey' });
  }
  const { Parts } = await s3.send(new ListPartsCommand(upload));
  expect(Parts).toMatchObject([{ PartNumber: 1, ETag: first.ETag }]);
  expect(readdirSync(folder)).toHaveLength(2);

  now += 2 * 86_400_000;
  await after.sweepExpired();
  expect((await s3.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
  await after.stop();
});
