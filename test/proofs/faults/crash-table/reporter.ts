import { readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import type { Settled } from './row.ts';

interface Line extends Settled {
  readonly title: string;
  readonly passed: boolean;
}

const ROWS = Array.from({ length: 25 }, (_, i) => i + 1);
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
/** All files that measure a row: the files beside this one, and the one that restarts the whole cloud. */
export const FILES: readonly string[] = [
  ...readdirSync(FOLDER).filter((name) => name.endsWith('.test.ts')),
  '../../../cloud/recovery/restart.test.ts',
];

let vitest: Vitest | undefined;

/** Prints the rows of the crash table that the tests have measured. If all files ran, a row without a test fails the run. */
export const crashTable: Reporter = {
  onInit(context) {
    vitest = context;
  },
  onTestRunEnd(modules) {
    const lines = modules.flatMap(linesOf).sort((a, b) => a.row - b.row);
    if (lines.length > 0) process.stdout.write(`\n${table(lines)}\n`);
    if (vitest?.config.testNamePattern !== undefined) return;
    const files = modules.map(({ moduleId }) => moduleId);
    const rows = untested(files, lines);
    if (rows.length === 0) return;
    process.stdout.write(`FAILED: all tests of the crash table were run, and none is of rows ${rows.join(', ')}\n`);
    process.exitCode = 1;
  },
};

/** Rows that no test has measured, though all files of the table were run; empty if they were not. */
export function untested(files: readonly string[], lines: readonly Pick<Settled, 'row'>[]): number[] {
  const ran = new Set(files.map((file) => relative(FOLDER, file)));
  return FILES.every((file) => ran.has(file)) ? missing(lines) : [];
}

const missing = (lines: readonly Pick<Settled, 'row'>[]): number[] =>
  ROWS.filter((row) => lines.every((line) => line.row !== row));

function linesOf(module: TestModule): Line[] {
  return [...module.children.allTests()].flatMap((test) =>
    (test.meta().settled ?? []).map((settled) => ({ ...settled, title: test.name, passed: test.ok() })),
  );
}

function table(lines: readonly Line[]): string {
  const rows = lines.map(({ row, title, passed, tookMs, boundMs, sinceDeadline }) => {
    const since = sinceDeadline ? 'deadline + ' : '';
    const what = title.replace(/^row \d+: /, '');
    return [passed ? '' : 'FAILED', String(row), since + seconds(tookMs), since + seconds(boundMs), what];
  });
  const all = [['', 'row', 'took', 'bound', 'what'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  const text = all.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const rest = missing(lines);
  const note = rest.length === 0 ? `All ${ROWS.length} rows.` : `Not in this run: rows ${rest.join(', ')}.`;
  return ['Crash table, in seconds of the cloud’s time', ...text.map((line) => line.trimEnd()), note].join('\n');
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
