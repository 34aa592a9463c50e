import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import { temporaryDir } from '../fixture.ts';
import { Bucket, filesAssembly, PART, send } from './support.ts';

const assembly = filesAssembly();
let cloud: Cloud | undefined;
afterEach(() => cloud?.stop());

test('an object of an older data folder is read, by range too, and replaced', async () => {
  const dataDir = temporaryDir();
  const folder = join(dataDir, 's3', Bucket);
  mkdirSync(folder, { recursive: true });
  const facts = { key: 'k', type: 'text/plain', etag: '"e"', bytes: 5, modifiedAt: Date.UTC(2026, 0, 1) };
  writeFileSync(join(folder, createHash('sha256').update('k').digest('hex')), `${JSON.stringify(facts)}\nolder`);
  const started = await startCloud({ assembly, dataDir });
  cloud = started;
  const get = async (range = 'all') => (await send(started, 'GET', `/${Bucket}/k`, { range })).text();
  expect([await get(), await get('bytes=-2')]).toEqual(['older', 'er']);
  await send(started, 'PUT', `/${Bucket}/k`, {}, Buffer.from('newer'));
  expect(await get()).toBe('newer');
  expect((await send(started, 'DELETE', `/${Bucket}/k`)).status).toBe(204);
  expect(readdirSync(folder)).toEqual([]);
});

test('a client that leaves in the middle of a body leaves nothing behind, and no error', async () => {
  const dataDir = temporaryDir();
  const lines: string[] = [];
  const started = await startCloud({
    assembly,
    dataDir,
    recordCalls: true,
    onLog: (_source, line) => lines.push(line),
  });
  cloud = started;
  const folder = join(dataDir, 's3', Bucket);
  const authorization = 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, Signature=x';
  const headers = { authorization, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'content-length': PART.length };
  const put = request(`${started.endpoint}/${Bucket}/k`, { method: 'PUT', headers }).on('error', () => undefined);
  put.write(PART.subarray(1));
  await expect.poll(() => readdirSync(folder)).toHaveLength(1);
  put.destroy();
  await expect.poll(() => readdirSync(folder)).toEqual([]);
  expect(started.calls.since()).toMatchObject([{ operation: 'PutObject', error: 'RequestTimeout' }]);
  expect(lines).toEqual([]);
});

test('a reader has the object as it was when its answer began', async () => {
  const started = await startCloud({ assembly });
  cloud = started;
  const body = Buffer.alloc(4 * PART.length, 'older');
  await send(started, 'PUT', `/${Bucket}/k`, {}, body);
  const answer = await send(started, 'GET', `/${Bucket}/k`);
  await send(started, 'PUT', `/${Bucket}/k`, {}, Buffer.from('newer'));
  expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
  expect(await (await send(started, 'GET', `/${Bucket}/k`)).text()).toBe('newer');
});
