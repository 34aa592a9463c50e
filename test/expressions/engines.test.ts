import { isDeepStrictEqual } from 'node:util';
import jsonata206 from 'jsonata';
import jsonata22 from 'jsonata-2.2';
import { describe, expect, test } from 'vitest';
import { type Functions, type Outcome, outcomesOf } from './evaluate.ts';
import { count, type Field, fields } from './fields.ts';

/**
 * The expressions give the same in two versions of the reference implementation: 2.0.6, which AWS runs, and the newest.
 * `node test/expressions/print.ts` prints the cases for engines in other languages. On 2026-11-27, of 1,269:
 * com.dashjoin:jsonata 0.9.10 (Java) gave the same in 1,258. The others: ids of tasks that end in an emoji, which none has (5),
 * null (4), 5e-324 (1), `$parse(5)` (1). jsonata-python 0.7.1 gave the same in 1,246. The others: null, which is nothing in
 * Python (17), `1.5 % 2` (2), another text of the same JSON beyond ASCII (2), 5e-324 (1), `$parse(5)` (1).
 */
const known = new Map<Field, Promise<Outcome[]>>();

function expectedOf(field: Field): Promise<Outcome[]> {
  const expected = known.get(field) ?? outcomesOf(field, jsonata206);
  known.set(field, expected);
  return expected;
}

describe(`jsonata 2.0.6 and 2.2 agree in ${count} cases of ${fields.length} expressions`, () => {
  test.each(fields.map((field) => [field.name, field] as const))('%s', async (_name, field) => {
    const expected = await expectedOf(field);
    expect(expected.some((outcome) => typeof outcome === 'object')).toBe(true);
    expect(await outcomesOf(field, jsonata22)).toEqual(expected);
  });

  test('at least 535 of them give a value', async () => {
    const outcomes = (await Promise.all(fields.map(expectedOf))).flat();
    expect(outcomes.filter((outcome) => typeof outcome === 'object').length).toBeGreaterThan(535);
  });
});

describe('an engine that differs is found', () => {
  const bugs: Functions = {
    exists: (value: unknown) => value !== undefined && value !== null,
    type: (value: unknown) => (value === undefined ? undefined : typeof value),
    length: (text: string) => Buffer.byteLength(text),
    lookup: (object: Record<string, unknown>, key: string) => object[key],
  };
  test.each(Object.entries(bugs))('by its $%s', async (name, bug) => {
    for (const field of fields.filter(({ text }) => text.includes(`$${name}(`))) {
      const found = await outcomesOf(field, jsonata22, { [name]: bug });
      if (!isDeepStrictEqual(found, await expectedOf(field))) return;
    }
    expect.fail('all cases are alike');
  });
});
