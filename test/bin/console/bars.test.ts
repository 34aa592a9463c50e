import { expect, test } from 'vitest';

// Plain JavaScript of the page: its types are checked with the page.
const { bars, failures } = await import(new URL('../../../bin/console/page/task/bars.js', import.meta.url).href);

test('what failed is drawn last, and is at least 0.8% wide inside of the picture', () => {
  const spans = [
    { waiting: 'tool', from: 0, to: 0, error: 'E' },
    { waiting: 'aws', from: 0, to: 9_999 },
    { waiting: 'tool', from: 9_999, to: 10_000, error: 'E' },
    { waiting: 'tool', from: 5_000, to: 5_001 },
  ];
  expect(bars(spans, 0, 10_000)).toEqual([
    { kind: 'aws', x: 0, width: 99.99 },
    { kind: 'tool', x: 50, width: 0.3 },
    { kind: 'failed', x: 0, width: 0.8 },
    { kind: 'failed', x: 99.2, width: 0.8 },
  ]);
  expect(bars([{ waiting: 'aws', from: 5, to: 5 }], 5, 5)).toEqual([{ kind: 'aws', x: 0, width: 0.3 }]);
});

test('failed tries are counted among the tries, by the names of their errors', () => {
  const failed = { waiting: 'tool', from: 0, to: 1, error: 'Throttled' };
  const wait = { waiting: 'aws', from: 1, to: 2 };
  const good = { waiting: 'tool', from: 2, to: 3 };
  expect(failures([failed, wait, failed, wait, good])).toBe('2 of 3 tries failed (Throttled)');
  expect(failures([{ ...failed, error: 'E' }])).toBe('1 of 1 try failed (E)');
  expect(failures([wait, good])).toBe('');
});
