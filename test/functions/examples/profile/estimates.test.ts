import fc from 'fast-check';
import { sampleStandardDeviation } from 'simple-statistics';
import { describe, expect, test } from 'vitest';
import { bootstrap, correlate } from '../../../../functions/examples/profile/estimates.ts';

const NONE = Number.NaN;

describe('correlate', () => {
  test('a line is 1, a falling line is -1', () => {
    const close = (r: number) => expect.closeTo(r, 12);
    expect(correlate([1, 2, 3, 4], [10, 20, 30, 40])).toEqual({ rows: 4, pearson: close(1), spearman: close(1) });
    expect(correlate([1, 2, 3, 4], [8, 6, 4, 2])).toEqual({ rows: 4, pearson: close(-1), spearman: close(-1) });
  });

  test('by hand: x = 1..5, y = 2 1 4 3 5', () => {
    // Deviations: sum xy = 8, sum xx = sum yy = 10; the ranks are the numbers themselves.
    const result = correlate([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]);
    expect(result?.pearson).toBeCloseTo(0.8, 12);
    expect(result?.spearman).toBeCloseTo(0.8, 12);
  });

  test('a rising curve is 1 by rank only', () => {
    const result = correlate([1, 2, 3, 4, 5], [1, 4, 9, 16, 25]);
    expect(result?.spearman).toBeCloseTo(1, 12);
    // Sum xy = 60, sum xx = 10, sum yy = 374.
    expect(result?.pearson).toBeCloseTo(60 / Math.sqrt(10 * 374), 12);
  });

  test('equal numbers share their mean rank', () => {
    // Ranks of a: 1, 2.5, 2.5, 4; of b: 1, 2, 3, 4. Sum ab = 4.5, sum aa = 4.5, sum bb = 5.
    expect(correlate([1, 2, 2, 3], [1, 2, 3, 4])?.spearman).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12);
  });

  test('only rows with both numbers count, for the ranks too', () => {
    const holes = correlate([1, NONE, 2, 100, 3, 4], [2, 5, 1, NONE, 4, 3]);
    expect(holes).toEqual(correlate([1, 2, 3, 4], [2, 1, 4, 3]));
    expect(holes?.rows).toBe(4);
  });

  test.each([
    ['a constant column', [5, 5, 5, 5], [1, 2, 3, 4]],
    ['constant over the common rows', [5, 5, 5, 9], [1, 2, 3, NONE]],
    ['two common rows', [1, 2, NONE], [1, 2, 3]],
    ['no common row', [1, NONE], [NONE, 1]],
  ])('says nothing about %s', (_case, a, b) => {
    expect(correlate(a, b)).toBeUndefined();
  });

  test('stays between -1 and 1, is the same both ways, and 1 with itself', () => {
    const number = fc.oneof(fc.constant(NONE), fc.integer({ min: -3, max: 3 }), fc.double({ min: -1e6, max: 1e6 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(number, number), { maxLength: 30 }), (rows) => {
        const a = rows.map(([one]) => one);
        const b = rows.map(([, two]) => two);
        const result = correlate(a, b);
        for (const r of [result?.pearson ?? 0, result?.spearman ?? 0]) expect(Math.abs(r)).toBeLessThanOrEqual(1);
        const turned = correlate(b, a);
        expect(turned?.spearman ?? 0).toBeCloseTo(result?.spearman ?? 0, 9);
        expect(correlate(a, a)?.spearman ?? 1).toBeCloseTo(1, 9);
      }),
    );
  });
});

const silent = async (): Promise<void> => {};

/** 1, 2, ..., n */
const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

describe('bootstrap', () => {
  test('the same data gives the same intervals', async () => {
    const sorted = upTo(500);
    expect(await bootstrap(sorted, 100, silent)).toEqual(await bootstrap(sorted, 100, silent));
  });

  test('equal numbers leave no doubt', async () => {
    const { meanInterval: mean, medianInterval: median } = await bootstrap([4, 4, 4, 4], 50, silent);
    expect({ mean, median }).toEqual({ mean: { low: 4, high: 4 }, median: { low: 4, high: 4 } });
  });

  test('the interval of the mean is about 1.96 standard errors wide on each side', async () => {
    const sorted = upTo(2_000);
    const { meanInterval: mean } = await bootstrap(sorted, 1_000, silent);
    const margin = (1.96 * sampleStandardDeviation(sorted)) / Math.sqrt(2_000);
    expect(1000.5 - mean.low).toBeGreaterThan(margin * 0.85);
    expect(1000.5 - mean.low).toBeLessThan(margin * 1.15);
    expect(mean.high - 1000.5).toBeGreaterThan(margin * 0.85);
    expect(mean.high - 1000.5).toBeLessThan(margin * 1.15);
  });

  test('the interval of the median holds the median, of even and odd sizes', async () => {
    for (const size of [1, 2, 3, 10, 101]) {
      const sorted = upTo(size);
      const { medianInterval: median } = await bootstrap(sorted, 200, silent);
      expect(median.low).toBeLessThanOrEqual((size + 1) / 2);
      expect(median.high).toBeGreaterThanOrEqual((size + 1) / 2);
      expect(median.low).toBeGreaterThanOrEqual(1);
      expect(median.high).toBeLessThanOrEqual(size);
    }
  });

  test('medians of two numbers are one of them or the middle', async () => {
    const { medianInterval: median } = await bootstrap([0, 10], 200, silent);
    expect(median).toEqual({ low: 0, high: 10 });
  });

  test('reports on the way and ends when the report does', async () => {
    const heard: number[] = [];
    const stop = bootstrap(upTo(10), 10, async (done) => {
      heard.push(done);
      if (heard.length === 2) throw new Error('enough');
    });
    await expect(stop).rejects.toThrow('enough');
    expect(heard).toEqual([0.1, 0.2]);
  });
});
