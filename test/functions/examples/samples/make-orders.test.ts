import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ORDER_ROWS, ordersCsv } from '../../../../functions/examples/samples/make-orders.ts';

const packed = readFileSync(new URL('../../../../functions/examples/samples/orders.csv.gz', import.meta.url));

describe('orders.csv.gz', () => {
  test('is what the generator makes, and small enough to ship', () => {
    expect(packed.length).toBeLessThan(2_000_000);
    // Compared as a boolean: the difference of two such texts would fill the screen for minutes.
    expect(gunzipSync(packed).toString() === ordersCsv()).toBe(true);
  });

  test('has the flaws it promises', () => {
    const text = gunzipSync(packed).toString();
    expect(text.match(/^\d{7},/gm)).toHaveLength(ORDER_ROWS);
    for (const flaw of [',n/a,', ' kg,', ',lost,', ',unknown,', '""Happy birthday!""', 'delivery\nAsk for Kim"']) {
      expect(text).toContain(flaw);
    }
  });
});
