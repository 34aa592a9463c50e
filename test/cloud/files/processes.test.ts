import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import type { FileLink } from '../../../functions/tool/index.ts';
import { ended, legacySession, poll } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';

const assembly = useAssembly('test/cloud/files/app.ts');
const cloud = useCloud('assembly', { assembly, movableClock: true });
const url = () => `${cloud().url}/mcp`;
const MB = 1_000_000;
const MEGABYTES = 300;
const DAY = 86_400_000;

/** The hash of the film that `render_film` makes of this title. */
function wanted(): string {
  const hash = createHash('sha256');
  const frame = Buffer.alloc(MB, 'Rain\n');
  for (let n = 0; n < MEGABYTES; n++) {
    frame.writeUInt32BE(n);
    hash.update(frame);
  }
  return hash.digest('hex');
}

/** `render_film` as it is deployed: its code, and the key by which the cloud knows its rights. */
function deployed() {
  const { Resources } = JSON.parse(readFileSync(join(assembly, 'Files.template.json'), 'utf8')) as {
    readonly Resources: Record<string, { readonly Properties: { readonly Code?: { readonly S3Key: string } } }>;
  };
  const [id = '', found] = Object.entries(Resources).find(([name]) => /renderfilmFunction\w{8}$/.test(name)) ?? [];
  return { id, code: join(assembly, `asset.${found?.Properties.Code?.S3Key.replace('.zip', '')}`) };
}

/** A task of an owner that can list, for which a process of its own runs `render_film`. */
async function taskElsewhere(megabytes: number) {
  const session = await legacySession(url(), {});
  const call = { name: 'files', arguments: { text: 'x', waits: true }, task: {} };
  const { taskId } = (await session.request('tools/call', call)).body.result.task;
  const owner = `session#${taskId.split('_')[0]}`;
  const [table, results] = [cloud().tables[0], cloud().buckets[0]];
  const task = { owner, taskId, table, results, round: 1, attempt: 0, deadline: Date.now() + 900_000, envelope: 1 };
  const event = { name: 'render_film', arguments: { title: 'Rain', megabytes }, task, accepts: [] };
  const { id, code } = deployed();
  const env = {
    ...{ ...process.env, AWS_ENDPOINT_URL: cloud().endpoint, AWS_REGION: cloud().region },
    ...{ AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: 'local' },
  };
  const program = join(import.meta.dirname, 'function-process.ts');
  const args = [program, code, JSON.stringify({ ...event, inputResponses: {}, requestState: null })];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const names = async () => {
    const { resources } = (await session.request('resources/list')).body.result;
    return resources.map(({ name }: FileLink) => name);
  };
  return { child, names };
}

test('a film of 300 MB is rendered by a call, and curl gets the same bytes, whole and by ranges', async () => {
  const { request } = await legacySession(url(), {});
  const call = { name: 'render_film', arguments: { title: 'Rain', megabytes: MEGABYTES }, task: {} };
  const { taskId } = (await request('tools/call', call)).body.result.task;
  const { result } = await poll(url(), taskId, ended);
  const { uri, size, _meta } = result.content[1];
  expect([size, _meta]).toEqual([MEGABYTES * MB, { 'mcp-task-server/sha256': wanted() }]);
  const half = (MEGABYTES * MB) / 2;
  const ranges = [`0-${half - 1}`, `${half}-`].map((range) => `curl -sL -r ${range} '${uri}'`).join('; ');
  for (const gets of [`curl -sL '${uri}'`, ranges]) {
    const { stdout } = await promisify(execFile)('bash', ['-c', `(${gets}) | sha256sum`]);
    expect(stdout).toBe(`${wanted()}  -\n`);
  }
});

test('the process of its function takes less than 200 MB', async () => {
  const { child, names } = await taskElsewhere(MEGABYTES);
  const { content, memory } = (await json(child.stdout)) as {
    readonly content: readonly [object, FileLink];
    readonly memory: number;
  };
  expect(content[1]._meta).toEqual({ 'mcp-task-server/sha256': wanted() });
  expect(await names()).toContain('film.bin');
  expect(memory).toBeLessThan(200);
});

test('a process that is killed in the middle leaves no film, and no parts after a day', async () => {
  const mark = cloud().calls.mark();
  const { child, names } = await taskElsewhere(2_000);
  const parts = () =>
    cloud()
      .calls.since(mark)
      .filter(({ operation }) => operation === 'UploadPart').length;
  await expect.poll(parts).toBeGreaterThan(5);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await names()).not.toContain('film.bin');
  const s3 = new S3Client({
    ...{ endpoint: cloud().endpoint, region: cloud().region, forcePathStyle: true },
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const uploads = async () => {
    const found = await s3.send(new ListMultipartUploadsCommand({ Bucket: String(cloud().buckets[0]) }));
    return found.Uploads?.length ?? 0;
  };
  expect(await uploads()).toBe(1);
  cloud().clock.advance(2 * DAY);
  await cloud().sweepExpired();
  expect(await uploads()).toBe(0);
});
