import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { runTasks } from '../../../bin/tasks/index.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const folder = temporaryDir();
afterEach(() => void vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs `mcp-task-server tasks list` with these files of the AWS CLI, and nothing in the environment. */
async function listed(file: string, ...args: string[]) {
  // The AWS clients remember the content of a file.
  const path = join(folder, randomUUID());
  writeFileSync(path, file);
  const names = ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  for (const name of names) vi.stubEnv(name, undefined);
  for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, path);
  vi.stubEnv('AWS_ENDPOINT_URL', cloud().endpoint);
  const err: string[] = [];
  const mark = cloud().calls.mark();
  const terminal = { out: () => {}, err: (text: string) => void err.push(text), folder: '/' };
  const code = await runTasks(['list', ...args, '--stack', cloud().stacks[0] ?? ''], terminal);
  return {
    code,
    err: err.join(''),
    callers: new Set(
      cloud()
        .calls.since(mark)
        .map(({ caller }) => caller),
    ),
  };
}
const keys = (name: string) => `aws_access_key_id = ${name}\naws_secret_access_key = s\n`;

test('region and credentials come from a profile, as for the AWS CLI', async () => {
  const file = `[profile ops]\nregion = ${cloud().region}\n[ops]\n${keys('of-ops')}[default]\n${keys('of-others')}`;
  const { code, callers } = await listed(file, '--profile', 'ops');
  expect([code, [...callers]]).toEqual([0, ['of-ops']]);
});

test('a program may give the credentials, as for single sign-on', async () => {
  const given = JSON.stringify({ Version: 1, AccessKeyId: 'of-program', SecretAccessKey: 's' });
  const file = `[profile sso]\ncredential_process = node -p 'JSON.stringify(${given})'\n`;
  const { code, callers } = await listed(file, '--profile', 'sso', '--region', cloud().region);
  expect([code, [...callers]]).toEqual([0, ['of-program']]);
});

test('without a region the command asks for one', async () => {
  const { code, err } = await listed(`[default]\n${keys('of-others')}`);
  expect([code, err]).toEqual([2, expect.stringContaining('--region')]);
});
