import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** A test, with the titles of its suites. Rows of tables have the title of their table. */
export interface Title {
  /** From the outermost suite to the test. */
  readonly parts: readonly string[];
  /** From the root of the repository. */
  readonly file: string;
  readonly line: number;
}

interface Listed {
  readonly name: string;
  readonly file: string;
  readonly location: { readonly line: number };
}

const ROOT = join(import.meta.dirname, '../..');

/** The titles of all tests, as vitest reads them from the sources. It leaves out what is skipped. */
export function listTitles(): readonly Title[] {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-titles-'));
  const out = join(folder, 'titles.json');
  try {
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    execFileSync(process.execPath, [vitest, 'list', `--json=${out}`], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return titlesOf(JSON.parse(readFileSync(out, 'utf8')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const titlesOf = (listed: readonly Listed[]): readonly Title[] =>
  listed.map(({ name, file, location }) => ({
    parts: name.replaceAll(/\$\{[^}]*\}/g, '…').split(' > '),
    file: relative(ROOT, file),
    line: location.line,
  }));

const MAY_NOT_RUN = /\b(?:skip|skipIf|runIf|fails)\(/;

/** Whether all tests of a file run wherever it is run, and have to pass. */
export const surelyRuns = (source: string): boolean => !MAY_NOT_RUN.test(source);
