import { expect, test } from 'vitest';
import { describeColumn } from '../../../../functions/examples/profile/describe.ts';

const describeCells = (cells: readonly string[]) => describeColumn({ name: 'a', cells }).result;

test('a few values that do not fit leave the type alone, many do not', () => {
  const cells = (bad: number): string[] => [...Array(bad).fill('bad'), ...Array(100 - bad).fill('1')];
  expect(describeCells(cells(5))).toMatchObject({ type: 'integer', count: 100, invalid: 5, distinct: 1 });
  expect(describeCells(cells(6))).toMatchObject({ type: 'string', count: 100, invalid: 0, distinct: 2 });
});

test('whole numbers are integers, one fraction makes them numbers', () => {
  expect(describeCells(['1', '2']).type).toBe('integer');
  expect(describeCells(['1', '2.5']).type).toBe('number');
});

test('a single number has no deviation', () => {
  const quantiles = { p05: 3, p25: 3, p50: 3, p75: 3, p95: 3 };
  expect(describeCells(['3'])).toMatchObject({ min: 3, max: 3, mean: 3, stddev: 0, quantiles });
});

test('numbers keep their digits far away from zero', () => {
  const far = [4, 7, 13, 16].map((near) => String(1e9 + near));
  expect(describeCells(far).stddev).toBeCloseTo(Math.sqrt(30), 9);
});

test('each row has its number or none, and the numbers are in order', () => {
  expect(describeColumn({ name: 'a', cells: ['2', '', '1'] }).numbers).toEqual({
    rows: [2, Number.NaN, 1],
    sorted: [1, 2],
  });
});

test('dates go from the earliest to the latest, with the time of day if they have one', () => {
  const days = { type: 'date', earliest: '2024-01-01', latest: '2024-01-02T12:00:00Z' };
  expect(describeCells(['2024-01-02T12:00Z', '2024-01-01'])).toMatchObject(days);
});

test('counts distinct texts up to the bound, and says so', () => {
  const cells = Array.from({ length: 50_001 }, (_, index) => `v${index}`);
  expect(describeCells([...cells, 'v0'])).toMatchObject({
    distinct: 50_000,
    distinctExact: false,
    topValues: expect.arrayContaining([{ value: 'v0', count: 2 }]),
  });
});
