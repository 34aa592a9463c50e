import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.ts';

const read = (folder: string) =>
  Object.fromEntries(
    globSync('**/*.md', { cwd: folder }).map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );

test('docs/api is what the doc comments say: npm run api writes it', () => {
  const out = mkdtempSync(join(tmpdir(), 'mcp-api-'));
  try {
    execFileSync('npm', ['run', 'api', '--silent', '--', '--out', out], { cwd: ROOT, stdio: 'pipe' });
    expect(read(join(ROOT, 'docs/api'))).toEqual(read(out));
  } finally {
    rmSync(out, { recursive: true });
  }
});
