import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { answerProblem } from '../../../../functions/tasks/questions/answer-problem.ts';
import { accept, asks, formOf, type Json, titled, verdict } from '../forms.ts';

const needsName = asks(formOf({ name: { type: 'string' } }, ['name']));

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
    ['a URL, with any content', asks(needsName.params.requestedSchema, 'url'), accept(5), undefined],
    ['a URL, without action', asks(undefined, 'url'), {}, `action must be 'accept', 'decline' or 'cancel'`],
    ['a required field of no definition', asks(formOf({}, ['x'])), accept({ x: null }), undefined],
    [
      'a problem after a field without one',
      asks(formOf({ name: { type: 'string' }, age: { type: 'integer' } })),
      accept({ name: 'L', age: 'x' }),
      `content['age'] must be an integer`,
    ],
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
    [{ ...string, minLength: 32_000 }, '', `content['f'] must have at least 32000 character(s)`],
    [{ ...string, minLength: 2, maxLength: 2 }, 'a', `content['f'] must have at least 2 character(s)`],
    [{ ...string, maxLength: 0 }, 'a', `content['f'] must have at most 0 character(s)`],
    [{ ...string, minLength: -5, maxLength: -1 }, 'a', undefined],
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
    [{ type: 'string', enum: ['a', null, true] }, 'b', choice],
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
