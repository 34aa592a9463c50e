import { expect, test } from 'vitest';
import {
  has,
  isBase64,
  isDeeperThan,
  isInteger,
  isJsonDeeperThan,
  isNumber,
  isString,
  isUri,
  listOf,
  objectOf,
  oneKindOf,
  parsed,
} from '../../../functions/tasks/shape.ts';

test.each([
  ['', true],
  ['YQ==', true],
  ['YWI=', true],
  ['YWJj', true],
  ['YWJjYWJj', true],
  ['+/9z', true],
  ['YQ=', false],
  ['YQ', false],
  ['-_9z', false],
  ['YW J', false],
  [' YWI', false],
  ['====', false],
  ['YWI=YWI=', false],
  [5, false],
  [['YWJj'], false],
  [undefined, false],
])('%j is Base64 with its padding: %s', (value, good) => {
  expect(isBase64(value)).toBe(good);
});

test('numbers are finite, and integers those that every language can hold', () => {
  expect([0, -1.5, Infinity, Number.NaN, '1'].map(isNumber)).toEqual([true, true, false, false, false]);
  expect([0, 2 ** 53 - 1, 2 ** 53, 1.5, '1'].map(isInteger)).toEqual([true, true, false, false, false]);
});

test('a URI is text, and absolute', () => {
  expect(['https://a.example', 'urn:x', '/a', '', ['urn:x'], 5].map(isUri)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('lists and objects are of one kind throughout', () => {
  expect([[], ['a'], ['a', 1], 'a', {}].map(listOf(isString))).toEqual([true, true, false, false, false]);
  expect([{}, { a: 'a' }, { a: 'a', b: 1 }, [], null, 'a'].map(objectOf(isString))).toEqual([
    ...[true, true, false, false, false, false],
  ]);
});

test('a member must be its own where it is required, and right where it is there', () => {
  const check = has({ a: isString }, { b: isString });
  const values = [{ a: 'x' }, { a: 'x', b: 'y' }, { a: 'x', b: undefined }, { a: 'x', b: 1 }, {}, { a: 1 }, [], null];
  expect(values.map(check)).toEqual([true, true, true, false, false, false, false, false]);
  expect(has({ a: () => true })(Object.create({ a: 1 }))).toBe(false);
  expect(has({})({})).toBe(true);
});

test('a kind is one of those that are named, and of no prototype', () => {
  const check = oneKindOf('type', { a: has({ n: isNumber }) });
  const values = [{ type: 'a', n: 1 }, { type: 'a' }, { type: 'constructor' }, { n: 1 }, 'a', null];
  expect(values.map(check)).toEqual([true, false, false, false, false, false]);
});

test('what is no JSON is undefined', () => {
  expect(['{"a":1}', 'null', '{', ''].map(parsed)).toEqual([{ a: 1 }, null, undefined, undefined]);
});

test('depth counts lists and objects, not what is in them', () => {
  expect([1, null, 'x', undefined].map((value) => isDeeperThan(value, 0))).toEqual([false, false, false, false]);
  expect([{}, [], { a: 1 }].map((value) => isDeeperThan(value, 0))).toEqual([true, true, true]);
  expect([{ a: 1 }, { a: null }, { a: 1, b: [] }, [[]]].map((value) => isDeeperThan(value, 1))).toEqual([
    ...[false, false, true, true],
  ]);
});

test('the text of JSON is as deep as its value, whatever its strings hold', () => {
  const strings = ['[[[', '"', '\\', '\\"[', '}{'];
  const values = [1, 'x', {}, [[1], [2]], { a: { b: [] } }, strings, [strings, { '"[{': strings }], [[], [], [[]]]];
  for (const value of values) {
    for (let levels = 0; levels < 5; levels++) {
      expect(isJsonDeeperThan(JSON.stringify(value, undefined, 1), levels)).toBe(isDeeperThan(value, levels));
    }
  }
});
