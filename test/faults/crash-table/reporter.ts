import type { Reporter, TestModule } from 'vitest/node';
import type { Settled } from './row.ts';

interface Line extends Settled {
  readonly title: string;
  readonly passed: boolean;
}

/** Prints the crash table, as far as the tests that ran have measured it. */
export const crashTable: Reporter = {
  onTestRunEnd(modules) {
    const lines = modules.flatMap(linesOf).sort((a, b) => a.row - b.row);
    if (lines.length > 0) process.stdout.write(`\n${table(lines)}\n`);
  },
};

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
  const missing = Array.from({ length: 23 }, (_, i) => i + 1).filter((row) => lines.every((line) => line.row !== row));
  const note = missing.length === 0 ? 'All 23 rows.' : `Not in this run: rows ${missing.join(', ')}.`;
  return ['Crash table, in seconds of the cloud’s time', ...text.map((line) => line.trimEnd()), note].join('\n');
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
