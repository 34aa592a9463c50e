import { expect, test } from 'vitest';
import { jsonOf } from '../../../../functions/tool/journal/json.ts';

const bounds = { depth: 3, string: 5 };
const circle: unknown[] = [];
circle.push({ circle });

test.each([
  [undefined, 'null'],
  [null, 'null'],
  [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
  [new Date(0).getTime(), '0'],
  ['12345', '"12345"'],
  [[[['x']]], '[[["x"]]]'],
  [{ toJSON: () => ['y'] }, '["y"]'],
  [{ toJSON: () => undefined }, 'null'],
])('%o is kept as %s', (value, text) => {
  expect(jsonOf(value, bounds)).toEqual({ text });
});

test.each([
  ['123456', 'holds a string of over 5 characters'],
  [{ deep: ['123456'] }, 'holds a string of over 5 characters'],
  [{ toJSON: () => '123456' }, 'holds a string of over 5 characters'],
  [[[[[]]]], 'is nested deeper than 3 levels'],
  [{ toJSON: () => [[[[]]]] }, 'is nested deeper than 3 levels'],
  [() => 1, 'is not JSON'],
  [{ f: () => 1 }, 'is not JSON'],
  [[Symbol('s')], 'is not JSON'],
  [[1n], 'is not JSON'],
  [circle, 'is not JSON'],
])('%o is refused: it %s', (value, problem) => {
  expect(jsonOf(value, bounds)).toEqual({ problem });
});
