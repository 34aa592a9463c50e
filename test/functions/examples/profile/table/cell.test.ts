import { describe, expect, test } from 'vitest';
import { readCell } from '../../../../../functions/examples/profile/table/cell.ts';

describe('readCell', () => {
  test.each(['', '  ', 'NA', 'n/a', 'N/A', 'null', 'NaN'])('%o is missing', (text) => {
    expect(readCell(text).kind).toBe('missing');
  });

  test.each([
    ['0', 0],
    ['-7', -7],
    ['+12', 12],
    [' 42 ', 42],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('%o is an integer', (text, value) => {
    expect(readCell(text)).toEqual({ kind: 'integer', value });
  });

  test.each([
    ['1.5', 1.5],
    ['.5', 0.5],
    ['5.', 5],
    ['-1e3', -1000],
    ['2.5E-3', 0.0025],
  ])('%o is a number', (text, value) => {
    expect(readCell(text)).toEqual({ kind: 'number', value });
  });

  test.each(['01234', '9007199254740993', '1e999', '1e200', '1,5', '1 000', '0x10', 'Infinity', '--1', '1.2.3', '.'])(
    '%o is a string: reading it as a number would change it',
    (text) => {
      expect(readCell(text).kind).toBe('string');
    },
  );

  test.each(['true', 'FALSE', 'Yes', 'no'])('%o is a boolean', (text) => {
    expect(readCell(text).kind).toBe('boolean');
  });

  test.each([
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-01-02T03:04Z', '2024-01-02T03:04:00.000Z'],
    ['2024-01-02 03:04:05', '2024-01-02T03:04:05.000Z'],
    ['2024-01-02T03:04:05.678+02:00', '2024-01-02T01:04:05.678Z'],
  ])('%o is a date', (text, iso) => {
    expect(readCell(text)).toEqual({ kind: 'date', value: Date.parse(iso) });
  });

  test.each(['2023-02-29', '2024-02-30', '2024-13-01', '2024-00-10', '24-01-01', '01/02/2024', '2024-01-01T25:00'])(
    '%o is not a date',
    (text) => {
      expect(readCell(text).kind).toBe('string');
    },
  );

  test('a long text is a string without further checks', () => {
    expect(readCell('1'.repeat(41)).kind).toBe('string');
  });
});
