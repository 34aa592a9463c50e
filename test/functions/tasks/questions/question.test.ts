import { describe, expect, test } from 'vitest';
import { areQuestions, isQuestion, kindOf, questionsProblem } from '../../../../functions/tasks/questions/question.ts';
import { partsOf } from '../parts.ts';

const fields = {
  ...{
    text: { type: 'string', title: 't', description: 'd', minLength: 1, maxLength: 2, format: 'email', default: 'x' },
  },
  ...{ pick: { type: 'string', enum: ['a'], enumNames: ['A'] } },
  ...{ titled: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] } },
  ...{ number: { type: 'number', title: 't', description: 'd', minimum: 0.5, maximum: 2, default: 1 } },
  ...{ integer: { type: 'integer', title: 't', description: 'd', minimum: 0, maximum: 2, default: 1 } },
  ...{ boolean: { type: 'boolean', title: 't', description: 'd', default: true } },
  many: {
    ...{ type: 'array', title: 't', description: 'd', minItems: 1, maxItems: 2, default: ['a'] },
    items: { type: 'string', enum: ['a'] },
  },
  some: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
};
const form = (properties: object, more: object = {}) => ({
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties, ...more } },
});

describe('a question has all its members checked (B-18, D-21)', () => {
  test('a form', () => {
    const question = form(fields, { required: ['text'], $schema: 's' });
    const whole = { ...question, params: { ...question.params, mode: 'form', _meta: {} } };
    expect(isQuestion(whole)).toBe(true);
    const at = (path: string) => `params.requestedSchema.properties.${path}`;
    expect(partsOf(isQuestion, whole)).toEqual({
      nullable: [],
      required: [
        ...['method', 'params', 'params.message', 'params.requestedSchema', 'params.requestedSchema.type'],
        'params.requestedSchema.properties',
        ...['text.type', 'pick.type', 'titled.type', 'titled.oneOf.0.const', 'titled.oneOf.0.title'].map(at),
        ...['number.type', 'integer.type', 'boolean.type'].map(at),
        ...['many.type', 'many.items', 'many.items.type', 'many.items.enum'].map(at),
        ...['some.type', 'some.items', 'some.items.anyOf'].map(at),
        ...['some.items.anyOf.0.const', 'some.items.anyOf.0.title'].map(at),
      ],
    });
  });

  test.each<[string, object, string[]]>([
    [
      'a URL',
      { method: 'elicitation/create', params: { mode: 'url', message: '?', url: 'https://a.example', _meta: {} } },
      ['method', 'params', 'params.mode', 'params.message', 'params.url'],
    ],
    [
      'sampling',
      { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      ['method', 'params', 'params.messages', 'params.maxTokens'],
    ],
    ['roots', { method: 'roots/list', params: { _meta: {} } }, ['method']],
  ])('%s', (_title, question, required) => {
    expect(isQuestion(question)).toBe(true);
    expect(partsOf(isQuestion, question)).toEqual({ nullable: [], required });
  });

  test.each(['email', 'uri', 'date', 'date-time'])('a text may be a %s', (format) => {
    expect(isQuestion(form({ a: { type: 'string', format } }))).toBe(true);
  });

  const page = (url: unknown) => ({ method: 'elicitation/create', params: { mode: 'url', message: '?', url } });

  test.each([
    ...['https://a.example', 'https://a.example/log-in?a=b@c#d', 'https://xn--bcher-kva.example:8443/é'],
    ...['http://localhost:3000/a', 'http://127.0.0.1/a', 'http://[::1]:80/', `https://a.example/${'x'.repeat(1_982)}`],
  ])('a person may be asked to open %s', (url) => {
    expect(isQuestion(page(url))).toBe(true);
  });

  test.each([
    ...[
      'javascript:alert(1)',
      'file:///etc/passwd',
      'data:text/html,<script>1</script>',
      'vscode://x/y',
      '/relative',
      1,
    ],
    ...['http://login.example/', 'http://localhost.example/', 'https://bank.example@a.example/', 'https://@a.example/'],
    ...['https:a.example', 'https:/a.example', 'https:\\\\a.example', 'https://bank.example\\@a.example/', 'https://'],
    ...[
      ' https://a.example/',
      'https://a.example/\n',
      'https://a.example/\u202egnp',
      'https://a.example/\u200b',
      'https://a.example/\u2800',
    ],
    ...['https://a.example/ a', 'https://a.example/\ud800', `https://a.example/${'x'.repeat(1_983)}`],
  ])('a person is not asked to open %j', (url) => {
    expect(isQuestion(page(url))).toBe(false);
  });

  test.each<[string, unknown]>([
    ['another method', { method: 'ping', params: {} }],
    ['a mode that there is not', { method: 'elicitation/create', params: { ...form({}).params, mode: 'other' } }],
    ['a format that there is not', form({ a: { type: 'string', format: 'phone' } })],
    ['a field within a field', form({ a: { type: 'object' } })],
    ['a list of anything', form({ a: { type: 'array', items: { type: 'string' } } })],
    ['a list of numbers to choose from', form({ a: { type: 'array', items: { type: 'number', enum: ['a'] } } })],
    [
      'a form of no object',
      { ...form({}), params: { message: '?', requestedSchema: { type: 'array', properties: {} } } },
    ],
    ['no object', 'roots/list'],
  ])('%s is refused', (_title, question) => {
    expect(isQuestion(question)).toBe(false);
  });

  test('a question nested deeper than 64 levels is refused', () => {
    const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
    const roots = (levels: number) => ({ method: 'roots/list', params: { _meta: nested(levels) } });
    expect(isQuestion(roots(62))).toBe(true);
    expect(isQuestion(roots(63))).toBe(false);
  });
});

describe('the questions of a round', () => {
  const roots = { method: 'roots/list' };

  test.each([
    ['a'.repeat(128), true],
    ['é'.repeat(64), true],
    ['a'.repeat(129), false],
    ['é'.repeat(65), false],
  ])('have names of at most 128 bytes: %s', (name, expected) => {
    expect(areQuestions({ first: roots, [name]: roots })).toBe(expected);
  });

  test('have a problem, which names the first wrong one', () => {
    expect(questionsProblem({ a: roots })).toBeUndefined();
    expect(questionsProblem({ a: roots, b: 5, c: 6 })).toMatch(
      /^'b' is not a question for a client\. A question is \{/,
    );
    for (const none of [{}, [], null, undefined, 'a'])
      expect(questionsProblem(none)).toMatch(/^there is no question\. /);
  });
});

test('the kind of a question is its method, with :url for one by URL (E-32)', () => {
  expect(kindOf({ method: 'roots/list' })).toBe('roots/list');
  expect(kindOf({ method: 'elicitation/create', params: { mode: 'form' } })).toBe('elicitation/create');
  expect(kindOf({ method: 'elicitation/create', params: { mode: 'url' } })).toBe('elicitation/create:url');
});
