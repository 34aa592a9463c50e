import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('without Java the referee is skipped, by name, without a failure', async () => {
  const nothing = mkdtempSync(join(tmpdir(), 'mcp-test-no-java-'));
  const { stdout } = await promisify(execFile)(process.execPath, ['test/contract/dynamodb-local.ts'], {
    env: { PATH: nothing },
  });
  expect(stdout).toBe('skipped: the store contract on DynamoDB Local needs Java 17 or later, and there is no Java\n');
});
