import { expect, test } from 'vitest';
import { ENGINES } from '../../functions/tasks/engines.ts';
import { limits } from '../../functions/tasks/limits.ts';
import { FILES } from '../proofs/faults/crash-table/reporter.ts';
import { readPage, rowsOf } from './pages.ts';

const page = readPage('docs/crash-table.md');
const rows = rowsOf(page).filter(([row = '']) => /^\d+$/.test(row));
const named = new Set(rows.map(([row, ...cells]) => `row ${row}: ${cells.at(-1)?.replaceAll('`', '')}`));
const files = FILES.map((file) => new URL(file, new URL('../proofs/faults/crash-table/', import.meta.url)).pathname);

/** `row 7: test/…`, for each test of a row. */
function tested(): Set<string> {
  const found = files.flatMap((path) => {
    const file = path.slice(path.lastIndexOf('/test/') + 1);
    const titles = readPage(file).matchAll(/['`]row (\d+): |\(row (\d+)\)['`]/g);
    return [...titles].map(([, begins, ends]) => `row ${begins ?? ends}: ${file}`);
  });
  return new Set(found);
}

test('each of the 25 rows names the files with its tests, and each test has its row', () => {
  expect(new Set(rows.map(([row]) => Number(row)))).toEqual(new Set(Array.from({ length: 25 }, (_, i) => i + 1)));
  expect([...named].toSorted()).toEqual([...tested()].toSorted());
});

test('its times are the times of functions/tasks/limits.ts and engines.ts', () => {
  const times = rowsOf(page).filter(([name = '']) => /^`(limits|ENGINES)\./.test(name));
  expect(times.length).toBeGreaterThan(10);
  for (const [name = '', value] of times) {
    const path = name.replaceAll('`', '').split('.');
    const ms = path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], { limits, ENGINES });
    expect(`${(Number(ms) / 1_000).toLocaleString('en')} s`, name).toBe(value);
  }
});
