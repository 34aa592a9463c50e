import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../../local/cloud.ts';
import { clientConfig } from '../../../local/test/fixture.ts';
import { synthApp } from '../../../local/testing.ts';
import type { VerifyContext } from './check.ts';
import { checks, runChecks } from './checks.ts';
import { verifyClient } from './client.ts';

const folder = mkdtempSync(join(tmpdir(), 'mcp-verify-test-'));
let cloud: Cloud;
let context: VerifyContext;
beforeAll(async () => {
  await synthApp('test/aws/verify/app.ts', folder);
  cloud = await startCloud({ assembly: folder, timeScale: 10 });
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  context = {
    client: verifyClient(`${cloud.url}/mcp`, cloud.region, credentials),
    sfn: new SFNClient(clientConfig(cloud)),
    machine: cloud.outputs.NapMachine ?? '',
    author: cloud.outputs.AuthorMachine ?? '',
    nap: 300,
    // A machine may be slow.
    within: { end: 60_000, question: 60_000, left: 60_000 },
  };
});
afterAll(async () => {
  await cloud?.stop();
  rmSync(folder, { recursive: true });
});

test('the checks of test:aws on an account hold on the embedded cloud', async () => {
  const lines: string[] = [];
  expect(await runChecks(context, (line) => lines.push(line)), lines.join('\n')).toBe(true);
  expect(lines).toHaveLength(checks.length);
});

test('the checks of test:aws fail if the server is wrong', async () => {
  cloud.faults.add({ service: 'lambda', operation: 'Invoke', do: { error: 'AccessDeniedException' }, times: 1_000 });
  cloud.faults.add({ service: 'events', operation: 'Deliver', do: { error: 'Gone', status: 400 }, times: 1_000 });
  const only = checks.filter(({ name }) => !/cancel|version/.test(name));
  const hasty = { ...context, within: { end: 0, question: 0, left: 0 } };
  for (const { name, run } of only) await expect(run(hasty), name).rejects.toThrow();
});
