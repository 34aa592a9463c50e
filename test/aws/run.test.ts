import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test.each([[[]], [['--create']]])('without credentials, no call is made: %j', async (args) => {
  const nowhere = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const { stdout } = await promisify(execFile)(process.execPath, ['test/aws/run.ts', ...args], {
    env: { ...nowhere, AWS_EC2_METADATA_DISABLED: 'true', AWS_REGION: 'us-east-1' },
  });
  expect(stdout).toBe('skipped: no AWS credentials\n');
});
