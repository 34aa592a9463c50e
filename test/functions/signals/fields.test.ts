import { describe, expect, test } from 'vitest';
import { fieldsOf } from '../../../functions/signals/page/answer-of-form.ts';
import { type Before, fieldHtml } from '../../../functions/signals/page/fields.ts';

/** The HTML of the only field of a form. */
function htmlOf(schema: object, required = true, before?: Before): string {
  const requestedSchema = { type: 'object', properties: { x: schema }, ...(required && { required: ['x'] }) };
  const [field] = fieldsOf({ method: 'elicitation/create', params: { message: '?', requestedSchema } });
  return field === undefined ? '' : fieldHtml(field, before).text.trim();
}
const sent = (typed: Record<string, string[]>, problem?: string): Before => ({
  typed: new Map(Object.entries(typed)),
  problems: { fields: { ...(problem !== undefined && { x: problem }) } },
});
const OPTIONAL = ' <span class="hint">(optional)</span>';
const hint = (text: string) => `<p class="hint" id="f0-hint">${text}</p>`;
const inField = (control: string, label = 'x', above = '') =>
  `<div class="field"><label for="f0">${label}</label>${above}${control}</div>`;
const input = (type: string, value: string, end = ' required', front = '') =>
  `<input type="${type}"${front} value="${value}" class="text" id="f0" name="f0"${end}>`;
const number = (step: number | 'any', bounds: string) => ` inputmode="decimal" step="${step}"${bounds}`;
const DESCRIBED = ' aria-describedby="f0-hint"';

describe('a field', () => {
  test.each<[string, object, boolean, string]>([
    ['a text', { type: 'string' }, true, inField(input('text', ''))],
    [
      'what the tool says of it',
      { type: 'string', title: 'Note', description: 'In short.', minLength: 2, maxLength: 200, default: 'hi' },
      false,
      inField(input('text', 'hi', DESCRIBED), `Note${OPTIONAL}`, hint('In short. From 2 to 200 characters.')),
    ],
    [
      'a text of more than one line',
      { type: 'string', maxLength: 201, default: '\na' },
      true,
      inField(
        `<textarea rows="4" class="text" id="f0" name="f0" required${DESCRIBED}>\n\na</textarea>`,
        ...['x', hint('At most 201 characters.')],
      ),
    ],
    [
      'the least length',
      { type: 'string', minLength: 3 },
      true,
      inField(input('text', '', ` required${DESCRIBED}`), 'x', hint('At least 3 characters.')),
    ],
    ['a mail address', { type: 'string', format: 'email' }, true, inField(input('email', ''))],
    ['a URL', { type: 'string', format: 'uri' }, true, inField(input('url', ''))],
    ['a day', { type: 'string', format: 'date', default: '2036-01-01' }, true, inField(input('date', '2036-01-01'))],
    [
      'an integer',
      { type: 'integer', minimum: 1, maximum: 9, default: 5 },
      true,
      inField(
        input('number', '5', ` required${DESCRIBED}`, number(1, ' min="1" max="9"')),
        ...['x', hint('From 1 to 9.')],
      ),
    ],
    [
      'a number',
      { type: 'number', minimum: 0.5 },
      false,
      inField(input('number', '', DESCRIBED, number('any', ' min="0.5"')), ...[`x${OPTIONAL}`, hint('At least 0.5.')]),
    ],
    [
      'a number of at most 0',
      { type: 'number', maximum: 0 },
      true,
      inField(input('number', '', ` required${DESCRIBED}`, number('any', ' max="0"')), 'x', hint('At most 0.')),
    ],
  ])('is %s', (_what, schema, required, html) => {
    expect(htmlOf(schema, required)).toBe(html);
  });

  test('shows again what was sent, and not its default; a text that is no number as text', () => {
    const numbered = { type: 'integer', default: 3 };
    const front = number(1, '');
    expect(htmlOf(numbered, true, sent({ f0: ['7'] }))).toBe(inField(input('number', '7', ' required', front)));
    expect(htmlOf(numbered, true, sent({ f0: [''] }))).toBe(inField(input('number', '', ' required', front)));
    expect(htmlOf({ type: 'string', default: 'd' }, true, sent({}))).toBe(inField(input('text', '')));
    const invalid = ' required aria-describedby="f0-error" aria-invalid="true"';
    expect(htmlOf(numbered, true, sent({ f0: ['7x'] }, 'No number'))).toBe(
      inField(`${input('text', '7x', invalid, front)}<p class="wrong" id="f0-error">No number</p>`),
    );
    expect(htmlOf({ type: 'string', description: 'In short.' }, true, sent({}, 'No'))).toContain(
      ' aria-describedby="f0-hint f0-error" aria-invalid="true">',
    );
  });
});

describe('the choices of a field', () => {
  const group = (label: string, inside: string, attributes = '') =>
    `<fieldset class="choice" id="f0"${attributes}><legend>${label}</legend>${inside}</fieldset>`;
  const button = (type: string, value: string, label: string, end = '') =>
    `<label><input type="${type}" name="f0" value="${value}"${end}> ${label}</label>`;
  const seven = ['1', '2', '3', '4', '5', '6', '7'];

  test('of yes and no are two buttons', () => {
    const yes = (end = '') => button('radio', 'true', 'Yes', end);
    const no = (end = '') => button('radio', 'false', 'No', end);
    const schema = { type: 'boolean', default: true };
    expect(htmlOf(schema)).toBe(group('x', `${yes(' checked required')}${no(' required')}`));
    expect(htmlOf({ type: 'boolean' }, false)).toBe(group(`x${OPTIONAL}`, `${yes()}${no()}`));
    const problem = ' aria-describedby="f0-error" aria-invalid="true"';
    expect(htmlOf(schema, true, sent({ f0: ['false'] }, 'No'))).toBe(
      group('x', `${yes(' required')}${no(' checked required')}<p class="wrong" id="f0-error">No</p>`, problem),
    );
  });

  test('have their titles; up to six of a text are buttons, more are a list', () => {
    const named = { type: 'string', enum: ['s', 'm'], enumNames: ['Small', ''], default: 'm' };
    const two = [button('radio', 's', 'Small', ' required'), button('radio', 'm', 'm', ' checked required')];
    expect(htmlOf(named)).toBe(group('x', two.join('')));
    const six = seven.slice(1).map((value) => button('radio', value, value, ' required'));
    expect(htmlOf({ type: 'string', enum: seven.slice(1) })).toBe(group('x', six.join('')));
    const oneOf = seven.map((value) => ({ const: value, title: `No ${value}` }));
    const options = seven.map(
      (value) => `<option value="${value}"${value === '2' ? ' selected' : ''}>No ${value}</option>`,
    );
    expect(htmlOf({ type: 'string', oneOf, default: '2' })).toBe(
      inField(
        `<select class="text" id="f0" name="f0" required><option value="">Choose…</option>${options.join('')}</select>`,
      ),
    );
  });

  test('of which several may be chosen are boxes, however many, and none is required by itself', () => {
    const boxes = (values: string[], end = '') => values.map((value) => button('checkbox', value, value, end)).join('');
    const two = { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, maxItems: 2 };
    expect(htmlOf({ ...two, default: ['a', 'b'] })).toBe(
      group('x', `${hint('From 1 to 2 choices.')}${boxes(['a', 'b'], ' checked')}`, DESCRIBED),
    );
    const items = { anyOf: seven.map((value) => ({ const: value })) };
    expect(htmlOf({ type: 'array', items }, false)).toBe(group(`x${OPTIONAL}`, boxes(seven)));
  });
});

describe('a date and time', () => {
  const shownIn = (html: string) => [
    /value="([^"]*)" class/.exec(html)?.[1],
    /value="([^"]*)" selected/.exec(html)?.[1],
  ];
  const moment = { type: 'string', format: 'date-time' };

  test('has a list of zones beside it, each once, which begins with UTC', () => {
    const html = htmlOf({ ...moment, title: 'When' });
    expect(html).toContain(
      `${input('datetime-local', '')}<select class="text" name="f0z" aria-label="Time zone of When"><option value="Z" selected>UTC</option>`,
    );
    const zones = [...html.matchAll(/<option value="([^"]+)"[^>]*>UTC([^<]*)</g)].map(([, value, label]) => [
      value,
      label,
    ]);
    expect(new Set(zones.map(([value]) => value)).size).toBe(38);
    for (const [value, label] of zones.slice(1))
      expect([value, label]).toEqual([label, expect.stringMatching(/^[+-]\d\d:\d\d$/)]);
  });

  test.each([
    ['2036-01-01T10:00:05Z', '2036-01-01T10:00'],
    ['2036-01-01T01:30:00+02:15', '2035-12-31T23:15'],
    ['tomorrow', ''],
  ])('shows the default %s in UTC', (value, shown) => {
    expect(shownIn(htmlOf({ ...moment, default: value }))).toEqual([shown, 'Z']);
  });

  test('shows what was sent with the zone that was chosen', () => {
    const before = sent({ f0: ['2036-01-01T10:00'], f0z: ['+05:30'] });
    expect(shownIn(htmlOf(moment, true, before))).toEqual(['2036-01-01T10:00', '+05:30']);
  });
});
