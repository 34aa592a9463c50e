import { NumberValue } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { exactNumber } from '../../../functions/operator/put-back.ts';

describe('a number of a restored item', () => {
  test.each([
    ['0', 0],
    ['-7', -7],
    ['0.1', 0.1],
    ['1800000000000', 1_800_000_000_000],
  ])('%s is read as it is', (text, expected) => {
    expect(exactNumber(text)).toBe(expected);
  });

  test.each(['1E+30', '9007199254740993', '100000000000000000000.5', '0.12345678901234567890123'])(
    '%s, which JavaScript cannot hold, is copied digit for digit',
    (text) => {
      const read = exactNumber(text);
      expect(read).toBeInstanceOf(NumberValue);
      expect(String(read)).toBe(text);
    },
  );
});
