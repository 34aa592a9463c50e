import { expect, test } from 'vitest';
import { dateOf, isBoolean, isMissing, numberOf } from '../../../../../functions/examples/profile/table/cell.ts';

test.each(['', 'NA', 'n/a', 'N/A', 'null', 'NaN'])('%o is missing', (text) => {
  expect(isMissing(text)).toBe(true);
});

test.each([
  ['0', 0],
  ['-7', -7],
  ['+12', 12],
  ['9007199254740991', 9_007_199_254_740_991],
  ['1.5', 1.5],
  ['.5', 0.5],
  ['5.', 5],
  ['-1e3', -1000],
  ['2.5E-3', 0.0025],
])('%o is a number', (text, value) => {
  expect(numberOf(text)).toBe(value);
});

test.each(['01234', '9007199254740993', '1e999', '1e200', '1,5', '1 000', '0x10', 'Infinity', '--1', '1.2.3', '.', ''])(
  '%o is no number: reading it as one would change it',
  (text) => {
    expect(numberOf(text)).toBeNaN();
  },
);

test.each(['true', 'FALSE', 'Yes', 'no'])('%o is a boolean', (text) => {
  expect(isBoolean(text)).toBe(true);
});

test.each([
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2024-01-02T03:04Z', '2024-01-02T03:04:00.000Z'],
  ['2024-01-02 03:04:05', '2024-01-02T03:04:05.000Z'],
  ['2024-01-02T03:04:05.678+02:00', '2024-01-02T01:04:05.678Z'],
])('%o is a date', (text, iso) => {
  expect(dateOf(text)).toBe(Date.parse(iso));
});

test.each(['2023-02-29', '2024-02-30', '2024-13-01', '2024-00-10', '24-01-01', '01/02/2024', '2024-01-01T25:00', ''])(
  '%o is not a date',
  (text) => {
    expect(dateOf(text)).toBeNaN();
  },
);
