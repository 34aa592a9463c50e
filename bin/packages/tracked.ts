import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Copies the files of a folder that git tracks, and never others, such as a `.env` or a `cdk.out`.
 *
 * @param kept whether to copy a file, by its path from `root`
 */
export function copyTracked(root: string, folder: string, out: string, kept = (_file: string) => true): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--', folder], { cwd: root, encoding: 'utf8' });
  const files = listed.split('\0').filter((file) => file !== '' && kept(file));
  if (files.length === 0) throw new Error(`git tracks no file in ${folder}: build from a clone`);
  for (const file of files) cpSync(join(root, file), join(out, relative(folder, file)));
}
