import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { validatorsCode } from '../../../lib/tools/validators.ts';
import { hostileName, hostileString, hostileValue } from './generate/hostile.ts';
import { textOf } from './generate/json-text.ts';
import { type Random, randomOf, testSeed } from './generate/random.ts';

type Schema = Record<string, unknown>;
type Validate = (value: unknown) => boolean;

const SCHEMAS = 54;
const deep = (levels: number): Schema =>
  levels === 0 ? {} : { type: 'object', properties: { a: deep(levels - 1) }, additionalProperties: deep(0) };

/** Schemas that an author may write by mistake, or copy. */
const PARTS: readonly ((random: Random) => Schema)[] = [
  () => deep(40),
  () => deep(100),
  () => ({ $ref: '#' }),
  () => ({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }),
  () => ({ $ref: '#/$defs/nobody' }),
  () => ({ $ref: 'https://a.example/schema' }),
  () => ({ allOf: [{ $ref: '#' }] }),
  () => ({ properties: { a: { anyOf: [{ $ref: '#/properties/a' }] } } }),
  () => ({ properties: { a: { $ref: '#' }, '~/': {} }, additionalProperties: { $ref: '#/properties/~0~1' } }),
  () => ({ properties: { constructor: { type: 'string' }, __proto__: { type: 'number' }, toString: {} } }),
  () => JSON.parse('{"properties":{"__proto__":{"type":"number"}},"required":["__proto__","constructor"]}') as Schema,
  (random) => ({
    required: [hostileName(random), hostileName(random)].filter((name, i, all) => all.indexOf(name) === i),
  }),
  () => ({ properties: { a: { enum: Array.from({ length: 2_000 }, (_, i) => `value ${i}`) } } }),
  (random) => ({ properties: { a: { pattern: random.pick(['(', '[', '\\', '(?<=', '^(a|b)*$', '\\p{Nope}', '*']) } } }),
  (random) => ({ patternProperties: { [random.pick(['(', '.*', '^x-', '\\d+'])]: { type: 'null' } } }),
  (random) => ({
    properties: { [hostileString(random).slice(0, 200)]: { const: hostileString(random).slice(0, 200) } },
  }),
  (random) => ({ properties: { a: JSON.parse(textOf(hostileValue(random))) as unknown } }),
  (random) => ({
    [random.pick(['properties', 'items', 'required', 'enum', 'minimum', 'format', '$id', '$schema'])]: 5,
  }),
];

const VALUES: readonly unknown[] = [
  ...[{}, { a: 1 }, { a: 'value 7' }, { a: {} }, { constructor: 'x' }, { toString: 1 }, { b: [] }],
  JSON.parse('{"__proto__":{"polluted":1},"constructor":"x"}') as unknown,
  JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as unknown,
];

function compiled(schema: Schema): Validate | string {
  const entry = {
    name: 'odd',
    description: 'd',
    inputSchema: schema,
    taskSupport: 'forbidden',
    timeout: 1_000,
  } as const;
  let code: string;
  try {
    code = validatorsCode([{ ...entry, outputSchema: schema }]);
  } catch (error) {
    return String((error as Error).message);
  }
  const exports: { inputs?: Validate[] } = {};
  new Function('exports', 'require', code)(exports, createRequire(import.meta.url));
  return exports.inputs?.[0] ?? 'nothing';
}

test(`${SCHEMAS} hostile schemas, seed ${testSeed}: refused at synth by tool name, or usable (A-16)`, () => {
  const seen = { refused: 0, judging: 0 };
  for (let i = 0; i < SCHEMAS; i++) {
    const random = randomOf(testSeed, i);
    const part = PARTS[i % PARTS.length] ?? (() => ({}));
    const schema = { type: 'object', ...part(random) };
    const what = `schema ${i} of seed ${testSeed}: ${JSON.stringify(schema).slice(0, 300)}`;
    const validate = compiled(schema);
    if (typeof validate === 'string') {
      expect(validate, what).toMatch(/^Tool 'odd': inputSchema: .{3,}/);
      expect(validate, what).not.toMatch(/undefined|\[object|is not a function|Cannot read/);
      seen.refused++;
      continue;
    }
    for (const value of VALUES) expect(() => validate(value), what).not.toThrow();
    seen.judging++;
  }
  expect(Math.min(seen.refused, seen.judging)).toBeGreaterThan(10);
  expect({}).not.toHaveProperty('polluted');
});

test.each<[string, Schema]>([
  ['at once', { $ref: '#' }],
  ['by all of it', { allOf: [{ $ref: '#' }] }],
  ['below', { properties: { a: { anyOf: [{ $ref: '#/properties/a' }] } } }],
])('a schema that refers to itself without end is refused at synth: %s (A-16)', (_, schema) => {
  expect(compiled({ type: 'object', ...schema })).toMatch(/refers to itself without end$/);
});

test.each<[string, Schema]>([
  ['in a property', { properties: { a: { $ref: '#' } } }],
  ['in a property of what also judges it', { allOf: [{ properties: { a: { $ref: '#' } } }] }],
  [
    'by a definition',
    { $ref: '#/$defs/t', $defs: { t: { type: 'object', properties: { a: { $ref: '#/$defs/t' } } } } },
  ],
])('one that refers to itself a level deeper judges: %s (A-16)', (_, schema) => {
  const validate = compiled({ type: 'object', ...schema });
  expect(typeof validate === 'function' && [{ a: { a: {} } }, { a: { a: 1 } }].map(validate)).toEqual([true, false]);
});
