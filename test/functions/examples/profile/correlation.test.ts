import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { correlate, type Pair } from '../../../../functions/examples/profile/correlation.ts';
import { ordered } from '../../../../functions/examples/profile/ordered.ts';

const NONE = Number.NaN;

const pause = async (): Promise<void> => {};

async function pair(a: readonly number[], b: readonly number[]): Promise<Pair | undefined> {
  const [one, other] = [await ordered(Float64Array.from(a), pause), await ordered(Float64Array.from(b), pause)];
  return correlate(one, other, pause);
}

describe('correlate', () => {
  test('a line is 1, a falling line is -1', async () => {
    const close = (r: number) => expect.closeTo(r, 12);
    expect(await pair([1, 2, 3, 4], [10, 20, 30, 40])).toEqual({ rows: 4, pearson: close(1), spearman: close(1) });
    expect(await pair([1, 2, 3, 4], [8, 6, 4, 2])).toEqual({ rows: 4, pearson: close(-1), spearman: close(-1) });
  });

  test('by hand: x = 1..5, y = 2 1 4 3 5', async () => {
    // Deviations: sum xy = 8, sum xx = sum yy = 10; the ranks are the numbers themselves.
    const result = await pair([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]);
    expect(result?.pearson).toBeCloseTo(0.8, 12);
    expect(result?.spearman).toBeCloseTo(0.8, 12);
  });

  test('a rising curve is 1 by rank only', async () => {
    const result = await pair([1, 2, 3, 4, 5], [1, 4, 9, 16, 25]);
    expect(result?.spearman).toBeCloseTo(1, 12);
    // Sum xy = 60, sum xx = 10, sum yy = 374.
    expect(result?.pearson).toBeCloseTo(60 / Math.sqrt(10 * 374), 12);
  });

  test('equal numbers share their mean rank', async () => {
    // Ranks of a: 1, 2.5, 2.5, 4; of b: 1, 2, 3, 4. Sum ab = 4.5, sum aa = 4.5, sum bb = 5.
    expect((await pair([1, 2, 2, 3], [1, 2, 3, 4]))?.spearman).toBeCloseTo(4.5 / Math.sqrt(4.5 * 5), 12);
  });

  test('only rows with both numbers count, for the ranks too', async () => {
    const holes = await pair([1, NONE, 2, 100, 3, 4], [2, 5, 1, NONE, 4, 3]);
    expect(holes).toEqual(await pair([1, 2, 3, 4], [2, 1, 4, 3]));
    expect(holes?.rows).toBe(4);
  });

  test.each([
    ['a constant column', [5, 5, 5, 5], [1, 2, 3, 4]],
    ['constant over the common rows', [5, 5, 5, 9], [1, 2, 3, NONE]],
    ['two common rows', [1, 2, NONE], [1, 2, 3]],
    ['no common row', [1, NONE], [NONE, 1]],
  ])('says nothing about %s', async (_case, a, b) => {
    expect(await pair(a, b)).toBeUndefined();
  });

  test('stays between -1 and 1, is the same both ways, and 1 with itself', async () => {
    const number = fc.oneof(fc.constant(NONE), fc.integer({ min: -3, max: 3 }), fc.double({ min: -1e6, max: 1e6 }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(number, number), { maxLength: 30 }), async (rows) => {
        const a = rows.map(([one]) => one);
        const b = rows.map(([, two]) => two);
        const result = await pair(a, b);
        for (const r of [result?.pearson ?? 0, result?.spearman ?? 0]) expect(Math.abs(r)).toBeLessThanOrEqual(1);
        const turned = await pair(b, a);
        expect(turned?.spearman ?? 0).toBeCloseTo(result?.spearman ?? 0, 9);
        expect((await pair(a, a))?.spearman ?? 1).toBeCloseTo(1, 9);
      }),
    );
  });
});
