import { expect, test } from 'vitest';
import { checkOf } from '../../../../functions/tasks/waits/webhook-schema.ts';

const schema = (most: number) => ({ type: 'object', properties: { n: { type: 'number', maximum: most } } });

test('a schema is compiled once, as long as not many others come', () => {
  const check = checkOf(schema(1));
  expect([check?.({ n: 1 }), check?.({ n: 2 })]).toEqual([true, false]);
  for (let n = 2; n <= 5; n++) checkOf(schema(n));
  expect(checkOf(schema(1))).toBe(check);
  for (let n = 2; n <= 6; n++) checkOf(schema(n));
  expect(checkOf(schema(1))).not.toBe(check);
});

test('a schema that cannot be used keeps no body out, the second time, too', () => {
  const unusable = { $ref: 'https://example.com/elsewhere' };
  expect([checkOf(unusable), checkOf(unusable)]).toEqual([undefined, undefined]);
});
