import { expect, test } from 'vitest';
import { decodeHeaderValue } from '../../../functions/authorizer/header-value.ts';

const encoded = (bytes: Buffer | string) => `=?base64?${Buffer.from(bytes).toString('base64')}?=`;

test.each([
  ['', ''],
  ['plain', 'plain'],
  ['=?base64?YQ==', '=?base64?YQ=='],
  ['YQ==?=', 'YQ==?='],
  ['x=?base64?YQ==?=', 'x=?base64?YQ==?='],
  ['=?base64?YQ==?=x', '=?base64?YQ==?=x'],
  ['=?base64??=', ''],
  [encoded('a'), 'a'],
  [encoded('ab'), 'ab'],
  [encoded('abc'), 'abc'],
  [encoded('abcd'), 'abcd'],
  [encoded('abcdefg+/ 名'), 'abcdefg+/ 名'],
  [encoded('\uFEFFx'), '\uFEFFx'],
])('the header value %j stands for %j (D-06)', (value, text) => {
  expect(decodeHeaderValue(value)).toBe(text);
});

test.each([
  ['has no padding', '=?base64?YQ?='],
  ['has one character too many', '=?base64?YWJjZ?='],
  ['has bits beyond its last byte', '=?base64?YR==?='],
  ['is of another alphabet', '=?base64?_-_-?='],
  ['has something before', '=?base64?%YQ==?='],
  ['has something after', '=?base64?YQ==%?='],
  ['has padding alone', '=?base64?====?='],
  ['is no UTF-8', encoded(Buffer.from([0xff]))],
])('an encoded value stands for nothing if it %s (D-06)', (_title, value) => {
  expect(decodeHeaderValue(value)).toBeUndefined();
});
