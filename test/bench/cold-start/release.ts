import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** A commit of release 0.1, which has no tag. */
export const LAST_RELEASE = 'ec43b98';

/**
 * Runs a module in the source of an earlier commit, with the dependencies of this one. The source lies beside `folder`
 * meanwhile. Throws if git does not have the commit.
 */
export function runInRelease(ref: string, folder: string, moduleText: string): void {
  const source = `${folder}-source`;
  mkdirSync(source);
  try {
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const tar = execFileSync('git', ['archive', ref], { cwd: ROOT, maxBuffer: 2 ** 28, stdio: [...stdio] });
    execFileSync('tar', ['-x', '-C', source], { input: tar });
    symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
    const file = join(source, 'bench.mjs');
    writeFileSync(file, moduleText);
    execFileSync(process.execPath, [file], { cwd: source, stdio: ['ignore', 'ignore', 'inherit'] });
  } finally {
    rmSync(source, { recursive: true });
  }
}
