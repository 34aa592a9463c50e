import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { Validator } from '../../../functions/mcp/manifest.ts';
import { validatorsCode } from '../../../lib/tools/validators.ts';

function compiled(properties: object): Validator {
  const inputSchema = { type: 'object', properties };
  const tool = { name: 't', description: 'd', inputSchema, taskSupport: 'forbidden', timeout: 1_000 } as const;
  const exports: { inputs?: Validator[] } = {};
  new Function('exports', 'require', validatorsCode([tool]))(exports, createRequire(import.meta.url));
  return exports.inputs?.[0] as Validator;
}

/** The errors of a schema for a value. */
function judge(properties: object, value: object) {
  const validate = compiled(properties);
  validate(value);
  return validate.errors?.map(({ message }) => message);
}

/** An item that no validator may compare with another: each comparison reads its properties. */
const untouched = () =>
  new Proxy(
    {},
    { get: () => expect.unreachable(), ownKeys: () => expect.unreachable(), has: () => expect.unreachable() },
  );

test.each<[string, object, unknown, string]>([
  [
    'maxLength before pattern',
    { type: 'string', pattern: '^([a-z0-9]+-?)+$', maxLength: 24 },
    `${'a'.repeat(60)}!`,
    'must NOT have more than 24 characters',
  ],
  [
    'maxItems before uniqueItems',
    { type: 'array', uniqueItems: true, items: { type: 'object' }, maxItems: 100 },
    Array.from({ length: 101 }, untouched),
    'must NOT have more than 100 items',
  ],
])('guards of a schema keep long values from its slow keywords: %s (A-16)', (_, schema, value, message) => {
  // The slow pattern would take years.
  expect(judge({ a: schema }, { a: value })).toEqual([message]);
});

test('a schema without slow keywords reports all errors, so a model can fix them at once (A-14)', () => {
  const messages = judge({ a: { type: 'string', pattern: '^[a-z]+$' }, b: { type: 'integer' } }, { a: 'A', b: 'c' });
  expect(messages).toEqual(['must match pattern "^[a-z]+$"', 'must be integer']);
});
