import { expect, test } from 'vitest';
import { interleaved, paired, quantile } from './statistics.ts';

test('a ratio is the median of the ratios of pairs, not that of medians', () => {
  // A slow moment strikes both samples of the second pair.
  expect(paired([10, 1_000, 30], [20, 2_000, 20])).toEqual({
    median: 0.5,
    low: 0.5,
    high: expect.closeTo(1.3),
    pairs: 3,
  });
  expect(() => paired([1], [])).toThrow('a sample without its pair');
});

test('quantiles are those of the sorted values', () => {
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
});

test('each round takes one sample of each kind', async () => {
  let calls = 0;
  const samples = await interleaved(5, { a: async () => calls++, b: async () => calls++ });
  expect([samples.a.length, samples.b.length]).toEqual([5, 5]);
  expect([...samples.a, ...samples.b].toSorted((x, y) => x - y)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  samples.a.forEach((sample, round) => {
    expect(Math.abs(sample - (samples.b[round] ?? 0))).toBe(1);
  });
});
