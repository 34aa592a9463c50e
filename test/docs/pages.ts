import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every page that people read. */
export const pages = (): string[] => globSync(['*.md', 'docs/{,architecture/,proofs/}*.md'], { cwd: ROOT });

/** The cells of every row of every table of a page. */
export function rowsOf(page: string): string[][] {
  return [...page.matchAll(/^\| (.*) \|$/gm)].map(([, cells = '']) => cells.split(' | '));
}
