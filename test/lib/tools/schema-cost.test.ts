import { expect, test } from 'vitest';
import { isCheap, slowParts } from '../../../lib/tools/schema-cost.ts';

const object = (properties: object) => ({ type: 'object', properties });

test.each<[string, object, string]>([
  ['nested quantifiers', { slug: { pattern: '^([a-z0-9]+-?)+$' } }, 'inputSchema.properties.slug.pattern has nested'],
  [
    'this pattern for names',
    { map: { patternProperties: { '(x+)+y': {} } } },
    "inputSchema.properties.map.patternProperties['(x+)+y'] has nested",
  ],
  [
    'unique objects without maxItems',
    { rows: { type: 'array', uniqueItems: true, items: { type: 'object' } } },
    'inputSchema.properties.rows.uniqueItems compares all pairs of items: give it maxItems',
  ],
  [
    'unique items of any type, below an allOf',
    { a: { allOf: [{ uniqueItems: true }] } },
    'inputSchema.properties.a.allOf.0.uniqueItems compares',
  ],
])('a schema is warned of, by its path: %s', (_, properties, warning) => {
  expect(slowParts('inputSchema', object(properties))).toEqual([expect.stringContaining(warning)]);
});

test.each<[string, object]>([
  ['one quantifier', { slug: { pattern: '^[a-z][a-z0-9-]{0,38}[a-z0-9]$' } }],
  ['unique scalars', { tags: { uniqueItems: true, items: { type: ['string', 'null'] } } }],
  ['few unique objects', { rows: { uniqueItems: true, maxItems: 100, items: { type: 'object' } } }],
  ['a property that is called pattern', { pattern: { type: 'string' }, uniqueItems: { type: 'boolean' } }],
])('an ordinary schema is not warned of: %s', (_, properties) => {
  expect(slowParts('inputSchema', object(properties))).toEqual([]);
});

test.each<[boolean, string]>([
  [true, '^[a-z]{2}-[a-z]{2,20}-[1-9]$'],
  [true, '^sha256:[0-9a-f]{64}$'],
  [true, '^\\d+$'],
  [true, '^(red|green)$'],
  [false, '\\s+$'],
  [false, '^a*a*$'],
  [false, '^[a-z]+@[a-z]+$'],
  [false, '^(ab)+$'],
  [false, '^(a|aa){2,50}$'],
  [false, '^(a.*)\\1$'],
  [false, '^x|a+b$'],
])('all errors are collected: %s, if the pattern is %s', (cheap, pattern) => {
  expect(isCheap(object({ a: { type: 'string', pattern } }))).toBe(cheap);
});

test('the search in a recursive schema ends', () => {
  const schema: Record<string, unknown> = { type: 'object' };
  schema.not = schema;
  expect(slowParts('inputSchema', schema)).toEqual([]);
});
