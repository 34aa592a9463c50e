import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerProblem } from '../../../functions/tasks/form.ts';
import { limits } from '../../../functions/tasks/limits.ts';

type Json = Record<string, unknown>;

const asks = (requestedSchema: unknown, mode?: string) => ({
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema, ...(mode !== undefined && { mode }) },
});
const accept = (content?: unknown) => ({ action: 'accept', ...(content !== undefined && { content }) });
const formOf = (properties: unknown, required?: unknown) => ({ type: 'object', properties, required });
/** The verdict on the value of the only field, `f`. */
const verdict = (field: unknown, value: unknown) => answerProblem(asks(formOf({ f: field })), accept({ f: value }));
const needsName = asks(formOf({ name: { type: 'string' } }, ['name']));
const titled = (...values: unknown[]) => values.map((value) => ({ const: value, title: `Title of ${value}` }));

describe('an elicitation (B-18, D-34)', () => {
  test.each<[string, Json, unknown, string | undefined]>([
    ['accepted with its field', needsName, accept({ name: 'Luca' }), undefined],
    ['a property the form does not have (X-11)', needsName, accept({ name: 'Luca', input: { a: [null] } }), undefined],
    ['only other properties (X-11)', needsName, accept({ input: 'Luca' }), `content['name'] is required`],
    ['declined', needsName, { action: 'decline' }, undefined],
    ['cancelled, with content that does not count', needsName, { action: 'cancel', content: 5 }, undefined],
    ['declined, with a wrong field', needsName, { action: 'decline', content: { name: 5 } }, undefined],
    ['no action', needsName, { content: { name: 'L' } }, `action must be 'accept', 'decline' or 'cancel'`],
    ['an unknown action', needsName, { action: 'Accept' }, `action must be 'accept', 'decline' or 'cancel'`],
    ['an action in a list', needsName, { action: ['accept'] }, `action must be 'accept', 'decline' or 'cancel'`],
    ['no content', needsName, accept(), `content['name'] is required`],
    ['no content where nothing is required', asks(formOf({ name: { type: 'string' } })), accept(), undefined],
    ['content that is null', needsName, accept(null), 'content must be an object'],
    ['content that is a list', asks(formOf({})), accept([]), 'content must be an object'],
    ['explicit form mode', asks(needsName.params.requestedSchema, 'form'), accept({}), `content['name'] is required`],
    ['a URL, accepted without content', asks(undefined, 'url'), accept(), undefined],
    ['a URL, whatever the content', asks(needsName.params.requestedSchema, 'url'), accept(5), undefined],
    ['a URL, without action', asks(undefined, 'url'), {}, `action must be 'accept', 'decline' or 'cancel'`],
    ['a required field of no definition', asks(formOf({}, ['x'])), accept({ x: null }), undefined],
    ['the first problem only', needsName, accept({ name: 5, other: 6 }), `content['name'] must be a string`],
  ])('%s', (_, request, answer, problem) => {
    expect(answerProblem(request as ReturnType<typeof asks>, answer)).toBe(problem);
  });

  test('prototypes hold no answer, and names of Object.prototype are names like others (D-25)', () => {
    const named = (name: string) =>
      asks(JSON.parse(`{"properties":{"${name}":{"type":"string"}},"required":["${name}"]}`));
    expect(answerProblem(needsName, Object.create({ action: 'decline' }))).toMatch(/^action/);
    expect(answerProblem(needsName, accept(Object.create({ name: 'L' })))).toMatch(/required/);
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(answerProblem(named(name), accept({}))).toBe(`content['${name}'] is required`);
      expect(answerProblem(named(name), accept(JSON.parse(`{"${name}":{}}`)))).toMatch(/must be a string/);
      expect(answerProblem(named(name), accept(JSON.parse(`{"${name}":"x"}`)))).toBeUndefined();
    }
    expect(verdict({ type: 'constructor', format: '__proto__' }, 1)).toBeUndefined();
  });

  test('an endless name of a field makes no endless sentence', () => {
    expect(answerProblem(asks(formOf({}, ['😀'.repeat(9_000)])), accept({}))?.length).toBeLessThan(200);
  });
});

describe('the fields of a form (B-18, D-34)', () => {
  const string = { type: 'string' };
  const integer = { type: 'integer' };
  const single = { type: 'string', enum: ['a', 'b'] };
  const multi = { type: 'array', items: { type: 'string', enum: ['a', 'b'] } };
  const choice = `content['f'] must be one of the choices of the form`;

  test.each<[Json, unknown, string | undefined]>([
    [string, '', undefined],
    [string, 5, `content['f'] must be a string`],
    [string, null, `content['f'] must be a string`],
    [{ ...string, minLength: 2, maxLength: 3 }, '😀😀😀', undefined],
    [{ ...string, minLength: 2 }, '😀', `content['f'] must have at least 2 character(s)`],
    [{ ...string, maxLength: 3 }, 'abcd', `content['f'] must have at most 3 character(s)`],
    [{ type: 'number' }, 95.5, undefined],
    [{ type: 'number', minimum: -1.5, maximum: 1.5 }, -1.5, undefined],
    [{ type: 'number', minimum: -1.5 }, -1.6, `content['f'] must be at least -1.5`],
    [{ type: 'number', maximum: 0 }, 0.1, `content['f'] must be at most 0`],
    [{ type: 'number' }, '5', `content['f'] must be a number`],
    [{ type: 'number' }, JSON.parse('1e999'), `content['f'] must be a number`],
    [integer, JSON.parse('30.0'), undefined],
    [integer, 30.5, `content['f'] must be an integer`],
    [integer, true, `content['f'] must be an integer`],
    [{ ...integer, minimum: 18 }, 17, `content['f'] must be at least 18`],
    [{ type: 'boolean' }, false, undefined],
    [{ type: 'boolean' }, 'true', `content['f'] must be true or false`],
    [single, 'b', undefined],
    [single, 'c', choice],
    [single, ['a'], `content['f'] must be a string`],
    [{ ...single, enumNames: ['A', 'B'] }, 'A', choice],
    [{ ...single, enumNames: ['A', 'B'] }, 'a', undefined],
    [{ type: 'string', oneOf: titled('a', 'b') }, 'a', undefined],
    [{ type: 'string', oneOf: titled('a', 'b') }, 'Title of a', choice],
    [{ type: 'string', anyOf: titled('a', 'b') }, 'c', choice],
    [multi, [], undefined],
    [multi, ['b', 'a', 'b'], undefined],
    [multi, ['a', 'c'], `content['f'][1] must be one of the choices of the form`],
    [multi, ['a', 5], `content['f'][1] must be a string`],
    [multi, 'a', `content['f'] must be a list`],
    [multi, { 0: 'a', length: 1 }, `content['f'] must be a list`],
    [{ ...multi, minItems: 1 }, [], `content['f'] must have at least 1 item(s)`],
    [{ ...multi, maxItems: 1 }, ['a', 'b'], `content['f'] must have at most 1 item(s)`],
    [{ type: 'array', items: { anyOf: titled('a', 'b') } }, ['b'], undefined],
    [{ type: 'array', items: { anyOf: titled('a', 'b') } }, ['c'], choice.replace(' must', '[0] must')],
  ])('%j takes %j or says: %s', (field, value, problem) => {
    expect(verdict(field, value)).toBe(problem);
  });

  test.each<[string, string[], string[]]>([
    [
      'email',
      ['a@b', 'first.last+tag@sub.example.com', "o'neil@example.co.uk", '1@x-y.z'],
      ['', 'a', 'a@', '@b', 'a@b@c', 'a b@c', 'a@b c', 'a@b.', 'a@-b', 'a@b-', 'a@b\n', 'a@b..c', 'A <a@b.c>'],
    ],
    [
      'uri',
      ['https://example.com/a?b=c#d', 'mailto:a@b.c', 'urn:isbn:1', 'file:///etc', 'http://[::1]:80/%7e', 'x-y.z+1:a'],
      [
        '',
        'example.com',
        '/a',
        '//a/b',
        'http://',
        ' http://a',
        'http://a b',
        'http://a\n',
        'http://a/%zz',
        '1a:b',
        'a:',
      ],
    ],
    [
      'date',
      ['2024-02-29', '0000-01-01', '9999-12-31', '2000-02-29'],
      [
        '',
        '2023-02-29',
        '1900-02-29',
        '2024-04-31',
        '2024-13-01',
        '2024-00-10',
        '2024-1-1',
        '2024-01-01T00:00:00Z',
        '+002024-01-01',
        '２０２４-01-01',
      ],
    ],
    [
      'date-time',
      ['2024-02-29T23:59:59Z', '2024-01-01t00:00:00.123456789z', '2024-01-01T12:00:00-23:59', '1990-12-31T23:59:60Z'],
      [
        '',
        '2024-01-01',
        '2024-01-01T12:00',
        '2024-01-01T12:00:00',
        '2024-01-01 12:00:00Z',
        '2024-02-30T12:00:00Z',
        '2024-01-01T24:00:00Z',
        '2024-01-01T12:60:00Z',
        '2024-01-01T12:00:00+24:00',
        '2024-01-01T12:00:00.Z',
        '2024-01-01T12:00:00Z\n',
      ],
    ],
  ])('format %s', (format, good, bad) => {
    for (const text of good) expect(verdict({ type: 'string', format }, text), text).toBeUndefined();
    for (const text of bad)
      expect(verdict({ type: 'string', format }, text), text).toMatch(/^content\['f'\] must be an? /);
  });
});

describe('what a tool got wrong never leaves the client without an answer (D-25)', () => {
  test.each<[unknown]>([
    [{ type: 'object' }],
    [{ type: ['string', 'null'] }],
    [{ type: 'text', format: 'email' }],
    [{ type: 'string', format: 'phone' }],
    [{ type: 'string', pattern: '^(a+)+$' }],
    [{ type: 'string', minLength: 5, maxLength: 2 }],
    [{ type: 'string', minLength: '9', maxLength: -1 }],
    [{ type: 'string', minLength: 1e9 }],
    [{ type: 'string', enum: [] }],
    [{ type: 'string', enum: [1, 2] }],
    [{ type: 'string', enum: ['a'], minLength: 5 }],
    [{ type: 'string', enum: 'x' }],
    [{ type: 'string', oneOf: [{ const: 'a' }, { pattern: 'x' }] }],
    [{ type: 'string', oneOf: ['a', null] }],
    [{ enum: [{ a: 1 }] }],
    [{ not: {} }],
    [false],
    [null],
    ['string'],
    [[]],
  ])('%j takes any text', (field) => {
    expect(verdict(field, `${'a'.repeat(9)}!`)).toBeUndefined();
  });

  test.each<[unknown, unknown]>([
    [{ type: 'string', enum: ['a', 'aaa'], maxLength: 1 }, 'aaa'],
    [{ type: 'string', enum: [1, 2] }, 1],
    [{ type: 'number', minimum: 3, maximum: 2 }, 7],
    [{ type: 'integer', minimum: 2.2, maximum: 2.8 }, 7],
    [{ type: 'integer', minimum: '8', maximum: null }, 7],
    [{ type: 'array' }, [1, {}]],
    [{ type: 'array', items: 5, minItems: -1, maxItems: 0.5 }, [1]],
    [{ type: 'array', items: { type: 'array', items: { type: 'string' } } }, [[1]]],
  ])('%j takes %j', (field, value) => {
    expect(verdict(field, value)).toBeUndefined();
  });

  test.each([
    [undefined],
    [null],
    [5],
    ['x'],
    [[]],
    [{}],
    [{ properties: [], required: {} }],
    [{ required: [1, {}, null] }],
  ])('a requestedSchema of %j takes any content', (schema) => {
    expect(answerProblem(asks(schema), accept())).toBeUndefined();
    expect(answerProblem(asks(schema), accept({ a: 1 }))).toBeUndefined();
  });

  test('keywords with any value at all: some value is accepted', () => {
    const reachable = (value: unknown) => typeof value !== 'number' || value < 10 || value > limits.inputResponses;
    const bound = fc.oneof(
      fc.integer({ min: -3, max: 9 }),
      fc.double({ min: -3, max: 9 }),
      fc.jsonValue().filter(reachable),
    );
    const options = fc.oneof(
      fc.array(fc.jsonValue({ maxDepth: 1 })),
      fc.array(fc.record({ const: fc.jsonValue() })),
      fc.jsonValue(),
    );
    const keywords = {
      type: fc.oneof(fc.constantFrom('string', 'number', 'integer', 'boolean', 'array'), fc.jsonValue()),
      ...Object.fromEntries(
        ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum'].map((k) => [k, bound]),
      ),
      ...Object.fromEntries(['enum', 'oneOf', 'anyOf'].map((k) => [k, options])),
    };
    const field = fc.record({ ...keywords, items: fc.record(keywords, { requiredKeys: [] }) }, { requiredKeys: [] });
    const scalars = (f: Json): unknown[] => [
      true,
      ...[f.enum, f.oneOf, f.anyOf].flatMap((list) => (Array.isArray(list) ? list : [])).flatMap((o) => [o, o?.const]),
      ...Array.from({ length: 10 }, (_, n) => 'x'.repeat(n)),
      ...[0, f.minimum, f.maximum].flatMap((n) => (typeof n === 'number' ? [n, Math.ceil(n), Math.floor(n)] : [])),
    ];
    fc.assert(
      fc.property(field, (f: Json) => {
        const lists = scalars((f.items ?? {}) as Json).flatMap((v) =>
          Array.from({ length: 10 }, (_, n) => Array(n).fill(v)),
        );
        expect([...scalars(f), ...lists].some((value) => value !== undefined && verdict(f, value) === undefined)).toBe(
          true,
        );
      }),
    );
  });
});

describe('other questions (D-25)', () => {
  const text = { type: 'text', text: 'Paris' };
  const sample = { role: 'assistant', model: 'm', content: text };
  const content = `content must be an object with a string 'type', or a list of such objects`;
  const roots = `roots must be a list of objects with a string 'uri'`;

  test.each<[string, unknown, string | undefined]>([
    ['sampling/createMessage', { ...sample, stopReason: 'endTurn' }, undefined],
    ['sampling/createMessage', { ...sample, role: 'user', content: [text, { type: 'tool_use' }] }, undefined],
    ['sampling/createMessage', { ...sample, role: 'system' }, `role must be 'user' or 'assistant'`],
    ['sampling/createMessage', { ...sample, model: undefined }, 'model must be a string'],
    ['sampling/createMessage', { ...sample, content: 'Paris' }, content],
    ['sampling/createMessage', { ...sample, content: [text, { type: 5 }] }, content],
    ['sampling/createMessage', { ...sample, content: Object.create(text) }, content],
    ['sampling/createMessage', { action: 'decline' }, `role must be 'user' or 'assistant'`],
    ['roots/list', { roots: [] }, undefined],
    ['roots/list', { roots: [{ uri: 'file:///a', name: 'A' }] }, undefined],
    ['roots/list', { roots: [{ uri: 'file:///a' }, {}] }, roots],
    ['roots/list', { roots: { uri: 'file:///a' } }, roots],
    ['roots/list', {}, roots],
    ['experimental/other', {}, undefined],
  ])('%s: %j gives %s', (method, answer, problem) => {
    expect(answerProblem({ method, params: {} }, answer)).toBe(problem);
  });

  test.each(['elicitation/create', 'sampling/createMessage', 'roots/list', 'experimental/other'])(
    '%s without params: an answer is an object',
    (method) => {
      expect(answerProblem({ method }, {}) === undefined).toBe(method === 'experimental/other');
      for (const answer of [undefined, null, 5, 'accept', true, [], [{ action: 'accept' }]]) {
        expect(answerProblem({ method, params: {} }, answer)).toBe('the answer must be an object');
      }
    },
  );
});

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

  test('a form both revisions allow takes the answer made for it, also when the rest of it is left out (B-18, D-34)', () => {
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

  test('the verdict is that of JSON Schema (D-34)', () => {
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
    const long = 200_000;
    const nasty = ['a', 'a.', 'a@a-', '-', '%', '%7', 'a:', '0', '2024-01-01T00:00:00.0', '😀'];
    const started = performance.now();
    for (const format of ['email', 'uri', 'date', 'date-time']) {
      for (const bit of nasty) {
        for (const start of ['', 'a@', 'a:', '2024-01-01T00:00:00.'])
          verdict({ type: 'string', format }, `${start}${bit.repeat(long / bit.length)}\n`);
      }
    }
    const many = Array.from({ length: 50_000 }, (_, n) => `${n}`);
    expect(verdict({ type: 'array', items: { type: 'string', enum: many } }, many)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
