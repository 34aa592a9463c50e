import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import type { FileLink } from '../../../functions/tool/index.ts';
import { legacySession } from '../../support/clients.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';

const cloud = useCloud('assembly', {
  assembly: useAssembly('test/cloud/files/app.ts'),
  movableClock: true,
});
const url = () => `${cloud().url}/mcp`;
const MEGABYTES = 150;
const DAY = 86_400_000;

/** The hash of the film that `render_film` makes of this title. */
function wanted(): string {
  const hash = createHash('sha256');
  const frame = Buffer.alloc(1_000_000, 'Rain\n');
  for (let n = 0; n < MEGABYTES; n++) {
    frame.writeUInt32BE(n);
    hash.update(frame);
  }
  return hash.digest('hex');
}

/** A task of an owner that can list, whose work another process does. */
async function taskElsewhere() {
  const session = await legacySession(url(), {});
  const call = { name: 'files', arguments: { text: 'x', waits: true }, task: {} };
  const { taskId } = (await session.request('tools/call', call)).body.result.task;
  const owner = `session#${taskId.split('_')[0]}`;
  const args = [String(MEGABYTES), cloud().tables[0], cloud().buckets[0], owner, taskId].map(String);
  const env = {
    ...{ ...process.env, AWS_ENDPOINT_URL: cloud().endpoint, AWS_REGION: cloud().region },
    ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  };
  const file = new URL('uploading.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const names = async () => {
    const { resources } = (await session.request('resources/list')).body.result;
    return resources.map(({ name }: FileLink) => name);
  };
  return { ...session, child, names };
}

async function lastLine(child: ChildProcess): Promise<string> {
  let last = '';
  for await (const line of createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })) last = line;
  return last;
}

test('a large film takes little memory, and curl gets the same bytes, whole and by ranges', async () => {
  const { child, request } = await taskElsewhere();
  const { film, before, memory } = JSON.parse(await lastLine(child));
  expect(film._meta['mcp-task-server/sha256']).toBe(wanted());
  // The AWS SDK is in it, too.
  expect(memory - before).toBeLessThan(MEGABYTES * 1_000_000);
  const { resources } = (await request('resources/list')).body.result;
  const { uri } = resources.find(({ name }: FileLink) => name === 'film.bin');
  const half = (MEGABYTES * 1_000_000) / 2;
  const ranges = [`0-${half - 1}`, `${half}-`].map((range) => `curl -sL -r ${range} '${uri}'`).join('; ');
  for (const gets of [`curl -sL '${uri}'`, ranges]) {
    const { stdout } = await promisify(execFile)('bash', ['-c', `(${gets}) | sha256sum`]);
    expect(stdout).toBe(`${wanted()}  -\n`);
  }
});

test('a process that is killed in the middle leaves no film, and no parts after a day', async () => {
  const { child, names } = await taskElsewhere();
  for await (const line of createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })) {
    if (line.startsWith('50 of')) break;
  }
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
