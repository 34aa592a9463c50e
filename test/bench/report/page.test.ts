import { expect, test } from 'vitest';
import { digits, markdown, replaced } from './page.ts';

const arm = { title: 'T', about: 'A.', run: async () => [] };
const ratio = { median: 0.456, low: 0.4, high: 12.34, pairs: 40, to: 'base' };

test('a row has its ratio, the spread and the number of pairs', () => {
  expect(markdown([{ arm, rows: [{ what: 'w', measured: '1 ms', ratio }] }])).toContain(
    '| w | 1 ms | **0.46** × base | 0.4 to 12.3 | 40 |',
  );
});

test('an arm that this machine cannot run says why', () => {
  expect(markdown([{ arm, rows: { skipped: 'no git' } }])).toBe('### T\n\nA.\n\nNot measured: no git.');
});

test('a run replaces what the last run has written, and nothing else', () => {
  const page = 'before\n<!-- written by npm run bench -->\nold\n<!-- end -->\nafter\n';
  const once = replaced(page, 'new');
  expect(once).toBe('before\n<!-- written by npm run bench -->\n\nnew\n\n<!-- end -->\nafter\n');
  expect(replaced(once, 'new')).toBe(once);
  expect(() => replaced('no marks', 'new')).toThrow('the page has no');
});

test('numbers have the digits that count', () => {
  expect([0.0123, 1.234, 12.34, 1234.5, Number.NaN].map(digits)).toEqual(['0.012', '1.2', '12.3', '1235', '–']);
});
