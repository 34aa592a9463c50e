import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ordered } from '../../../../functions/examples/profile/ordered.ts';
import { distinctCount, quantile, summarize } from '../../../../functions/examples/profile/statistics.ts';

const NONE = Number.NaN;
const finite = fc.double({ noNaN: true, min: -1e150, max: 1e150 });

describe('summarize', () => {
  test('of 2, 4, 4, 4, 5, 5, 7, 9, by hand', () => {
    const { min, max, mean, stddev, quantiles } = summarize(Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9));
    expect({ min, max, mean }).toEqual({ min: 2, max: 9, mean: 5 });
    expect(stddev).toBeCloseTo(Math.sqrt(32 / 7), 12);
    // Positions (n - 1) * p = 0.35, 1.75, 3.5, 5.25, 6.65.
    expect(quantiles.p05).toBeCloseTo(2.7, 12);
    expect(quantiles.p25).toBeCloseTo(4, 12);
    expect(quantiles.p50).toBeCloseTo(4.5, 12);
    expect(quantiles.p75).toBeCloseTo(5.5, 12);
    expect(quantiles.p95).toBeCloseTo(8.3, 12);
  });

  test('of a single number', () => {
    expect(summarize(Float64Array.of(3))).toEqual({
      min: 3,
      max: 3,
      mean: 3,
      stddev: 0,
      quantiles: { p05: 3, p25: 3, p50: 3, p75: 3, p95: 3 },
    });
  });

  test('keeps its digits far away from zero', () => {
    const far = Float64Array.of(1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16);
    expect(summarize(far).stddev).toBeCloseTo(Math.sqrt(30), 9);
  });

  test('quantiles of any numbers rise and stay inside', () => {
    fc.assert(
      fc.property(fc.array(finite, { minLength: 1, maxLength: 50 }), (numbers) => {
        const { min, max, mean, stddev, quantiles } = summarize(Float64Array.from(numbers).sort());
        const { p05, p25, p50, p75, p95 } = quantiles;
        const rising = [min, p05, p25, p50, p75, p95, max];
        expect(rising).toEqual(rising.toSorted((a, b) => a - b));
        expect(Number.isFinite(mean) && Number.isFinite(stddev) && stddev >= 0).toBe(true);
      }),
    );
  });
});

test('quantile hits the numbers themselves at whole positions', () => {
  const sorted = Float64Array.of(10, 20, 30, 40, 50);
  expect([0, 0.25, 0.5, 0.75, 1].map((share) => quantile(sorted, share))).toEqual([10, 20, 30, 40, 50]);
});

test('ordered leaves missing numbers out and keeps the rows', async () => {
  const { order, sorted } = await ordered(Float64Array.of(3, NONE, 1, 2, NONE), async () => {});
  expect([...order]).toEqual([2, 3, 0]);
  expect([...sorted]).toEqual([1, 2, 3]);
});

test.each([65_536, 65_537, 300_000])('ordered sorts %i numbers as one sort would, equal ones by row', async (size) => {
  // Each seventh is missing, and each value comes many times.
  const values = Float64Array.from({ length: size }, (_, row) => (row % 7 === 3 ? NONE : (row * 7_919) % 10_007));
  let pauses = 0;
  const { order, sorted } = await ordered(values, async () => {
    pauses += 1;
  });
  const rows = [...values.keys()].filter((row) => row % 7 !== 3);
  rows.sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0) || a - b);
  // Compared as booleans: a difference would fill the screen.
  expect(order.length === rows.length && rows.every((row, index) => order[index] === row)).toBe(true);
  expect(rows.every((row, index) => sorted[index] === values[row])).toBe(true);
  expect(pauses).toBeGreaterThanOrEqual(Math.floor(rows.length / 65_536));
});

test('distinctCount counts runs', () => {
  expect(distinctCount(Float64Array.of())).toBe(0);
  expect(distinctCount(Float64Array.of(-0, 0, 1, 1, 2))).toBe(3);
});
