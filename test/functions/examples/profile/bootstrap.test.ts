import { describe, expect, test } from 'vitest';
import { bootstrap } from '../../../../functions/examples/profile/bootstrap.ts';
import { summarize } from '../../../../functions/examples/profile/statistics.ts';

const silent = async (): Promise<void> => {};

/** 1, 2, ..., n */
const upTo = (n: number): Float64Array => Float64Array.from({ length: n }, (_, index) => index + 1);

describe('bootstrap', () => {
  test('the same data gives the same intervals', async () => {
    const sorted = upTo(500);
    expect(await bootstrap(sorted, 100, silent)).toEqual(await bootstrap(sorted, 100, silent));
  });

  test('equal numbers leave no doubt', async () => {
    const { meanInterval: mean, medianInterval: median } = await bootstrap(Float64Array.of(4, 4, 4, 4), 50, silent);
    expect({ mean, median }).toEqual({ mean: { low: 4, high: 4 }, median: { low: 4, high: 4 } });
  });

  test('the interval of the mean is about 1.96 standard errors wide on each side', async () => {
    const sorted = upTo(2_000);
    const { meanInterval: mean } = await bootstrap(sorted, 1_000, silent);
    const margin = (1.96 * summarize(sorted).stddev) / Math.sqrt(2_000);
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
    const { medianInterval: median } = await bootstrap(Float64Array.of(0, 10), 200, silent);
    expect(median).toEqual({ low: 0, high: 10 });
  });

  test('reports on the way and ends when the report does', async () => {
    const heard: number[] = [];
    const stop = bootstrap(upTo(100_000), 200, async (done = 0) => {
      heard.push(done);
      if (heard.length === 2) throw new Error('enough');
    });
    await expect(stop).rejects.toThrow('enough');
    expect(heard).toEqual([0.1, 0.2]);
  });
});
