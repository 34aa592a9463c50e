import { expect, test } from 'vitest';
import { answerOfForm } from '../../../functions/signals/page/answer-of-form.ts';
import { attribute, html } from '../../../functions/signals/page/html.ts';
import type { InputRequest } from '../../../functions/tasks/tool-contract.ts';
import { linkOf, setup } from './support.ts';

const questionOf = (properties: object, required: string[] = []): InputRequest => {
  const wait = linkOf(properties, required);
  if (wait.kind !== 'link') throw new Error();
  return wait.question;
};
const contentOf = (properties: object, fields: [string, string][], required: string[] = []) =>
  answerOfForm(new URLSearchParams([['action', 'accept'], ...fields]).toString(), questionOf(properties, required))
    .answer.content;

test('html escapes what is inserted, and nothing else', () => {
  const evil = `<script>"'&`;
  expect(
    html`<p>${evil}${html`<b>${1}</b>`}${undefined}${false}${['a', html`<i>`]}</p>${attribute('x', evil)}`.text,
  ).toBe('<p>&lt;script&gt;&quot;&#39;&amp;<b>1</b>a<i></p> x="&lt;script&gt;&quot;&#39;&amp;"');
});

test.each([
  [{ type: 'string' }, ['a\r\nb'], 'a\nb'],
  [{ type: 'string' }, [''], undefined],
  [{ type: 'boolean' }, ['true'], true],
  [{ type: 'boolean' }, ['false'], false],
  [{ type: 'boolean' }, [], undefined],
  [{ type: 'integer' }, ['12'], 12],
  [{ type: 'number' }, [' 1.5e3 '], 1500],
  [{ type: 'number' }, ['0x10'], '0x10'],
  [{ type: 'number' }, ['1,5'], '1,5'],
  [{ type: 'number' }, ['-.25'], -0.25],
  [{ type: 'number' }, ['+7.'], 7],
  [{ type: 'number' }, ['1.25e-12'], 1.25e-12],
  [{ type: 'number' }, ['1E+12'], 1e12],
  [{ type: 'number' }, ['x7'], 'x7'],
  [{ type: 'number' }, ['1ex2'], '1ex2'],
  [{ type: 'number' }, ['.x'], '.x'],
  [{ type: 'boolean' }, ['maybe'], 'maybe'],
  [{ type: 'string' }, ['2036-02-29T10:00'], '2036-02-29T10:00'],
  [{ type: 'string', format: 'date-time' }, ['2036-02-29T10:00:01.25'], '2036-02-29T10:00:01.25Z'],
  [{ type: 'string', format: 'date-time' }, ['x2036-02-29T10:00'], 'x2036-02-29T10:00'],
  [{ type: 'string', format: 'date-time' }, ['2036-02-29T10:00x'], '2036-02-29T10:00x'],
  [{ type: 'string', format: 'date-time' }, ['2036-02-29T10:00:01.x'], '2036-02-29T10:00:01.x'],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, ['a', 'b'], ['a', 'b']],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, [], undefined],
  [{ type: 'string', format: 'date' }, ['2036-02-29'], '2036-02-29'],
])('the value of %j for %j is %j', (schema, typed, value) => {
  expect(
    contentOf(
      { x: schema },
      typed.map((text) => ['f0', text]),
    ),
  ).toEqual(value === undefined ? {} : { x: value });
});

test('a date and time gets the zone that is chosen, and its seconds', () => {
  const moment = { at: { type: 'string', format: 'date-time' } };
  expect(contentOf(moment, [['f0', '2036-01-15T09:30']])).toEqual({ at: '2036-01-15T09:30:00Z' });
  expect(
    contentOf(moment, [
      ['f0', '2036-01-15T09:30:05'],
      ['f0z', '-03:30'],
    ]),
  ).toEqual({ at: '2036-01-15T09:30:05-03:30' });
});

test('a field may have any name: none reaches a prototype, or the inputs of the page itself', () => {
  const properties = JSON.parse('{"__proto__":{"type":"string"},"action":{"type":"string"},"by":{"type":"string"}}');
  const content = contentOf(properties, [
    ['f0', 'p'],
    ['f1', 'x'],
    ['f2', 'y'],
    ['by', 'Ann'],
  ]);
  expect(JSON.stringify(content)).toBe('{"__proto__":"p","action":"x","by":"y"}');
});

test.each([
  [' Ann ', 'Ann'],
  ['  ', undefined],
])('a name is taken without spaces around it: %j', (by, name) => {
  const body = new URLSearchParams({ action: 'accept', by }).toString();
  const { answer } = answerOfForm(body, questionOf({}));
  expect(answer).toEqual({ action: 'accept', content: {}, ...(name !== undefined && { by: name }) });
});

const EVIL = `"><script>alert(1)</script><img src=x onerror=alert(1)>'\u202e`;
const EVERY = {
  [EVIL]: { type: 'string', title: EVIL, description: EVIL, default: EVIL, maxLength: 500 },
  mail: { type: 'string', format: 'email' },
  page: { type: 'string', format: 'uri' },
  day: { type: 'string', format: 'date', default: '2036-01-01' },
  when: { type: 'string', format: 'date-time' },
  age: { type: 'integer', title: 'Age', minimum: 18, maximum: 99 },
  price: { type: 'number' },
  ok: { type: 'boolean', title: 'Agreed', default: true },
  size: {
    type: 'string',
    oneOf: [
      { const: 's', title: EVIL },
      { const: 'l', title: 'Large' },
    ],
    default: 'l',
  },
  town: { type: 'string', enum: Array.from({ length: 9 }, (_, i) => `Town ${i}`) },
  tags: {
    type: 'array',
    items: {
      anyOf: [
        { const: 'a', title: 'First' },
        { const: 'b', title: EVIL },
      ],
    },
    maxItems: 1,
  },
};

test('whatever a tool asks or a person types, the page holds no element but its own', async () => {
  const { taskWith, get, form } = setup({ server: EVIL, titles: { buy: EVIL } });
  const task = await taskWith({ a: linkOf(EVERY, Object.keys(EVERY), EVIL) });
  const typed: [string, string][] = Object.keys(EVERY).flatMap((_, i) => [
    [`f${i}`, EVIL],
    [`f${i}z`, EVIL],
  ]);
  const replies = [await get(task), await form(task, [...typed, ['by', EVIL.repeat(5)], ['action', EVIL]])];
  expect(replies.map(({ status }) => status)).toEqual([200, 422]);
  for (const { body } of replies) {
    expect(body).not.toMatch(/<(script|img)|onerror=(?!alert\(1\)&gt;)/);
    expect(body.replace(/<style>[^<]*<\/style>/, '')).not.toMatch(/ (style|on\w+)="/);
    expect(body).toContain('&lt;script&gt;');
  }
});

test('each field has a label and its error, named by aria-describedby; what was typed stays', async () => {
  const { taskWith, form } = setup();
  const task = await taskWith({
    a: linkOf({ age: EVERY.age, name: { type: 'string' }, tags: EVERY.tags }, ['age', 'name']),
  });
  const { status, body } = await form(task, [
    ['action', 'accept'],
    ['f0', '7'],
    ['f2', 'a'],
    ['f2', 'b'],
    ['by', 'Ann'],
  ]);
  expect(status).toBe(422);
  expect(body).toContain('<label for="f0">Age</label><p class="hint" id="f0-hint">From 18 to 99.</p>');
  expect(body).toMatch(
    /<input type="number"[^>]* value="7"[^>]* id="f0"[^>]* aria-describedby="f0-hint f0-error" aria-invalid="true">/,
  );
  expect(body).toContain('<p class="wrong" id="f0-error">This must be at least 18</p>');
  expect(body).toContain('<p class="wrong" id="f1-error">This is required</p>');
  expect(body).toContain('<p class="wrong" id="f2-error">This must have at most 1 item(s)</p>');
  expect(body.match(/ checked/g)).toHaveLength(2);
  expect(body).toContain('name="by" autocomplete="name" value="Ann"');
  expect(body).toContain('<div class="summary" role="alert">');
  for (const [, id = ''] of body.matchAll(/href="#(\w+)"/g)) expect(body).toContain(` id="${id}"`);
});

test('the page says who asks, what, by when with its zone, and afterwards who answered and when', async () => {
  const { taskWith, get, form } = setup();
  const task = await taskWith({ a: linkOf({ ok: EVERY.ok }, [], 'Buy 3 chairs\nfor €900?') });
  const { body } = await get(task);
  expect(body).toContain('<p class="server">Shop</p>');
  expect(body).toContain('<h1>Buy things</h1>');
  expect(body).toContain('<p class="message">Buy 3 chairs\nfor €900?</p>');
  expect(body).toMatch(/<time datetime="2036-01-16T12:00:00.000Z">Wednesday,? 16 January 2036 at 12:00 UTC<\/time>/);
  expect(body).toMatch(/value="true" checked/);
  await form(task, { action: 'decline', by: 'Ann' });
  expect((await get(task)).body).toMatch(
    /<strong>Declined<\/strong> by <bdi>Ann<\/bdi> on <time[^>]*>Tuesday,? 15 January 2036 at 12:00 UTC/,
  );
});

test('a decline needs no field, and carries no content', async () => {
  const { taskWith, form, stored } = setup();
  const task = await taskWith({ a: linkOf(EVERY, Object.keys(EVERY)) });
  expect((await form(task, { action: 'decline', f5: '7' })).status).toBe(200);
  expect(JSON.parse(stored(task).inputResponses?.['w.a'] ?? '').signal).toEqual({
    action: 'decline',
    at: expect.any(Number),
  });
});

test('a form without an action stores nothing, and asks for one', async () => {
  const { taskWith, form, stored } = setup();
  const task = await taskWith({ a: linkOf({}) });
  expect((await form(task, { f0: 'x' })).status).toBe(422);
  expect(stored(task).inputResponses).toEqual({});
});
