import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerProblem } from '../../../functions/tasks/questions/answer-problem.ts';
import { growsLinearly } from '../../support/growth.ts';
import { accept, asks, formOf, type Json, titled, verdict } from './forms.ts';

/** Fields as the published schemas define them, each with a value it takes. */
const ordered = (lowest: number) =>
  fc
    .tuple(fc.integer({ min: lowest, max: 20 }), fc.integer({ min: 0, max: 5 }))
    .map(([least, more]) => [least, least + more]);
const label = fc.string({ minLength: 1, maxLength: 6, unit: 'binary' });
const choices = fc.uniqueArray(label, { minLength: 1, maxLength: 5 });
type Answered = readonly [field: Json, value: unknown];
const text = ordered(0).chain(([minLength = 0, maxLength = 0]) =>
  fc
    .string({ minLength, maxLength, unit: 'binary' })
    .map((value): Answered => [{ type: 'string', minLength, maxLength }, value]),
);
const count = ordered(-20).chain(([minimum = 0, maximum = 0]) =>
  fc.integer({ min: minimum, max: maximum }).map((value): Answered => [{ type: 'integer', minimum, maximum }, value]),
);
const amount = ordered(-20).chain(([minimum = 0, maximum = 0]) =>
  fc
    .double({ min: minimum, max: maximum, noNaN: true })
    .map((value): Answered => [{ type: 'number', minimum, maximum }, value]),
);
const selection = choices.chain((values) =>
  fc.tuple(
    fc.constantFrom<Json>(
      { type: 'string', enum: values },
      { type: 'string', enum: values, enumNames: values },
      { type: 'string', oneOf: titled(...values) },
    ),
    fc.constantFrom(...values),
  ),
);
const selections = choices.chain((values) =>
  fc.tuple(
    fc.constantFrom<Json>(
      { type: 'array', items: { type: 'string', enum: values }, minItems: 1, maxItems: 4 },
      { type: 'array', items: { anyOf: titled(...values) }, minItems: 1, maxItems: 4 },
    ),
    fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 4 }),
  ),
);
const day = fc
  .date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const formatted = fc
  .oneof(
    fc.tuple(fc.constant('email'), fc.emailAddress()),
    fc.tuple(fc.constant('uri'), fc.webUrl({ withFragments: true, withQueryParameters: true })),
    fc.tuple(
      fc.constant('date'),
      day.map((iso) => iso.slice(0, 10)),
    ),
    fc.tuple(fc.constant('date-time'), day),
  )
  .map(([format, value]): Answered => [{ type: 'string', format }, value]);
const yesNo = fc.boolean().map((value): Answered => [{ type: 'boolean' }, value]);
const plain = fc.oneof(text, count, amount, selection, selections, yesNo);
const forms = (field: fc.Arbitrary<Answered>) =>
  fc.dictionary(label, field, { maxKeys: 5 }).chain((fields) => {
    const names = Object.keys(fields);
    const part = (index: 0 | 1) => Object.fromEntries(names.map((name) => [name, fields[name]?.[index]]));
    return fc.record({
      form: fc.subarray(names).map((required) => formOf(part(0), required)),
      content: fc.constant(part(1)),
    });
  });

describe('any form and any answer', () => {
  const published = ['2025-11-25', '2026-07-28'].map((revision) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(JSON.parse(readFileSync(new URL(`../../schemas/${revision}.json`, import.meta.url), 'utf8')), 'mcp');
    return { revision, valid: (name: string, value: unknown) => ajv.validate(`mcp#/$defs/${name}`, value) };
  });

  test('a form of both revisions takes its full answer, also without optional fields (B-18, D-34)', () => {
    fc.assert(
      fc.property(forms(fc.oneof(plain, formatted)), ({ form, content }) => {
        const request = asks(form);
        for (const { revision, valid } of published) {
          expect(valid('ElicitRequestFormParams', request.params), revision).toBe(true);
        }
        expect(answerProblem(request, accept(content))).toBeUndefined();
        const required = Object.entries(content).filter(([name]) => (form.required as string[]).includes(name));
        expect(answerProblem(request, accept(Object.fromEntries(required)))).toBeUndefined();
      }),
    );
  });

  test('the verdict is the same as by JSON Schema (D-34)', () => {
    const near = fc.oneof(
      plain.map(([, value]) => value),
      fc.jsonValue({ maxDepth: 1 }),
    );
    const pair = forms(plain).chain(({ form, content }) => {
      const values = Object.keys(content).map((name) => [name, fc.oneof(fc.constant(content[name]), near)] as const);
      return fc.tuple(fc.constant(form), fc.record(Object.fromEntries(values), { requiredKeys: [] }));
    });
    fc.assert(
      fc.property(pair, ([form, content]) => {
        const valid = new Ajv2020({ strict: false }).validate(form, content);
        expect(answerProblem(asks(form), accept(content)) === undefined).toBe(valid);
      }),
    );
  });

  test('no JSON makes it throw, and no sentence repeats a value (D-25)', () => {
    const json = fc.oneof(
      fc.jsonValue(),
      fc.jsonValue().map((content) => accept(content)),
    );
    const method = fc.constantFrom('elicitation/create', 'sampling/createMessage', 'roots/list', 'other');
    const params = fc.oneof(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue().map((schema) => asks(schema).params),
      fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue()).map((properties) => asks(formOf(properties)).params),
    );
    fc.assert(
      fc.property(method, params, json, (name, given, answer) => {
        expect(answerProblem({ method: name, params: given }, answer) ?? 'fine').toMatch(/^[a-z]/);
      }),
    );
    fc.assert(
      fc.property(
        forms(fc.oneof(plain, formatted)),
        fc.constantFrom('SECRET', ['SECRET'], { SECRET: 'SECRET' }),
        (made, value) => {
          const content = Object.fromEntries(Object.keys(made.content).map((name) => [name, value]));
          expect(answerProblem(asks(made.form), accept(content)) ?? '').not.toContain('SECRET');
        },
      ),
    );
  });

  test('the time grows with the size, not faster', () => {
    const nasty = ['a', 'a.', 'a@a-', '-', '%', '%7', 'a:', '0', '2024-01-01T00:00:00.0', '😀'];
    const texts = (long: number) => {
      for (const format of ['email', 'uri', 'date', 'date-time']) {
        for (const bit of nasty) {
          for (const start of ['', 'a@', 'a:', '2024-01-01T00:00:00.'])
            verdict({ type: 'string', format }, `${start}${bit.repeat(long / bit.length)}\n`);
        }
      }
    };
    const choices = (count: number) => {
      const many = Array.from({ length: count }, (_, n) => `${n}`);
      expect(verdict({ type: 'array', items: { type: 'string', enum: many } }, many)).toBeUndefined();
    };
    expect([growsLinearly(texts, 5_000), growsLinearly(choices, 3_000)]).toEqual([true, true]);
  });
});
