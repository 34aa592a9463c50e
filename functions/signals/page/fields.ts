import { isObject } from '../../tasks/shape.ts';
import { type Field, type FormAnswer, zoneOf } from './answer-of-form.ts';
import { attribute, type Html, html } from './html.ts';

type Json = Readonly<Record<string, unknown>>;

/** What is wrong with an answer. */
export interface Problems {
  readonly fields: Readonly<Record<string, string>>;
  /** With the name of who answers. */
  readonly by?: string;
  /** With the answer as a whole. */
  readonly answer?: string;
}

/** What the page shows again after an answer that does not fit. */
export interface Before {
  readonly typed: FormAnswer['typed'];
  readonly problems: Problems;
}

export const problemOf = ({ name }: Pick<Field, 'name'>, before: Before | undefined): string | undefined =>
  before && Object.hasOwn(before.problems.fields, name) ? before.problems.fields[name] : undefined;

/** A choice of a field. */
interface Choice {
  readonly value: string;
  readonly label: string;
}

/** So many choices are buttons, more are a list. */
const BUTTONS = 6;
/** A text that may be longer than this has more than one line. */
const ONE_LINE = 200;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
export const labelOf = ({ name, schema }: Field): string => textOf(schema.title) ?? name;
export const errorId = (input: string): string => `${input}-error`;

/** A field with its label, what it is about, and what is wrong with it. */
export function fieldHtml(field: Field, before: Before | undefined): Html {
  const { input, schema, required } = field;
  const problem = problemOf(field, before);
  const hints = [textOf(schema.description), ...limitsOf(schema)].filter((hint) => hint !== undefined).join(' ');
  const about = [hints && `${input}-hint`, problem && errorId(input)].filter(Boolean).join(' ');
  const described = html`${attribute('aria-describedby', about || undefined)}${attribute('aria-invalid', problem !== undefined && 'true')}`;
  const label = html`${labelOf(field)}${!required && html` <span class="hint">(optional)</span>`}`;
  const hint = hints !== '' && html`<p class="hint" id="${input}-hint">${hints}</p>`;
  const wrong = problem !== undefined && html`<p class="wrong" id="${errorId(input)}">${problem}</p>`;
  const values = before?.typed.get(input) ?? (before ? [] : defaultsOf(schema));
  const choices = choicesOf(schema);
  if (choices !== undefined && (schema.type !== 'string' || choices.length <= BUTTONS)) {
    return html`<fieldset class="choice" id="${input}"${described}><legend>${label}</legend>${hint}${buttons(field, choices, values)}${wrong}</fieldset>
`;
  }
  const control =
    choices === undefined ? inputHtml(field, values, described, before) : list(field, choices, values, described);
  return html`<div class="field"><label for="${input}">${label}</label>${hint}${control}${wrong}</div>
`;
}

function buttons({ input, schema, required }: Field, choices: readonly Choice[], values: readonly string[]): Html[] {
  const many = schema.type === 'array';
  return choices.map(
    ({ value, label }) =>
      html`<label><input type="${many ? 'checkbox' : 'radio'}" name="${input}" value="${value}"${attribute('checked', values.includes(value))}${attribute('required', required && !many)}> ${label}</label>`,
  );
}

function list(
  { input, required }: Field,
  choices: readonly Choice[],
  values: readonly string[],
  described: Html,
): Html {
  const options = choices.map(
    ({ value, label }) =>
      html`<option value="${value}"${attribute('selected', values.includes(value))}>${label}</option>`,
  );
  return html`<select class="text" id="${input}" name="${input}"${attribute('required', required)}${described}><option value="">Choose…</option>${options}</select>`;
}

function inputHtml(field: Field, values: readonly string[], described: Html, before: Before | undefined): Html {
  const { input, schema, required } = field;
  const common = html` class="text" id="${input}" name="${input}"${attribute('required', required)}${described}`;
  const value = values[0] ?? '';
  if (schema.type === 'number' || schema.type === 'integer') {
    const step = schema.type === 'integer' ? 1 : 'any';
    const bounds = html`${attribute('min', numberOf(schema.minimum))}${attribute('max', numberOf(schema.maximum))}`;
    // A text that is not a number is shown again, which an input for numbers does not do.
    const type = before && value !== '' && Number.isNaN(Number(value)) ? 'text' : 'number';
    return html`<input type="${type}" inputmode="decimal" step="${step}"${bounds} value="${value}"${common}>`;
  }
  if (schema.format === 'date-time') return momentHtml(field, value, common, before);
  if ((numberOf(schema.maxLength) ?? 0) > ONE_LINE)
    return html`<textarea rows="4"${common}>
${value}</textarea>`;
  const type = TYPES.get(schema.format) ?? 'text';
  return html`<input type="${type}" value="${value}"${common}>`;
}

const TYPES = new Map<unknown, string>([
  ['email', 'email'],
  ['uri', 'url'],
  ['date', 'date'],
]);

/** Without a script the page does not know the time zone of its reader. */
function momentHtml(field: Field, value: string, common: Html, before: Before | undefined): Html {
  const zone = before?.typed.get(zoneOf(field))?.[0] ?? 'Z';
  const options = ZONES.map(
    ([offset, label]) => html`<option value="${offset}"${attribute('selected', offset === zone)}>${label}</option>`,
  );
  // A default may have any offset, and the list begins with UTC.
  const local = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.exec(before ? value : inUtc(value))?.[0] ?? '';
  return html`<input type="datetime-local" value="${local}"${common}><select class="text" name="${zoneOf(field)}" aria-label="Time zone of ${labelOf(field)}">${options}</select>`;
}

function inUtc(moment: string): string {
  const at = Date.parse(moment);
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}

/** Offsets in use, as RFC 3339 writes them. */
const ZONES: readonly (readonly [offset: string, label: string])[] = [
  ['Z', 'UTC'],
  ...[
    ...['-12:00', '-11:00', '-10:00', '-09:30', '-09:00', '-08:00', '-07:00', '-06:00', '-05:00', '-04:00', '-03:30'],
    ...['-03:00', '-02:00', '-01:00', '+01:00', '+02:00', '+03:00', '+03:30', '+04:00', '+04:30', '+05:00', '+05:30'],
    ...['+05:45', '+06:00', '+06:30', '+07:00', '+08:00', '+08:45', '+09:00', '+09:30', '+10:00', '+10:30', '+11:00'],
    ...['+12:00', '+12:45', '+13:00', '+14:00'],
  ].map((offset) => [offset, `UTC${offset}`] as const),
];

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** What a browser does not say by itself. */
function limitsOf({ type, minimum, maximum, minLength, maxLength, minItems, maxItems }: Json): (string | undefined)[] {
  const between = (least: unknown, most: unknown, what: string) => {
    const [from, to] = [numberOf(least), numberOf(most)];
    if (from === undefined) return to === undefined ? undefined : `At most ${to}${what}.`;
    return to === undefined ? `At least ${from}${what}.` : `From ${from} to ${to}${what}.`;
  };
  if (type === 'array') return [between(minItems, maxItems, ' choices')];
  return type === 'string' ? [between(minLength, maxLength, ' characters')] : [between(minimum, maximum, '')];
}

function choicesOf(schema: Json): readonly Choice[] | undefined {
  if (schema.type === 'boolean') {
    return [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ];
  }
  const {
    enum: plain,
    enumNames,
    oneOf,
    anyOf,
  } = schema.type === 'array' && isObject(schema.items) ? schema.items : schema;
  if (Array.isArray(plain)) {
    const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return plain.map((value: unknown, i) => ({ value: String(value), label: textOf(names[i]) ?? String(value) }));
  }
  const titled = [oneOf, anyOf].find((list) => Array.isArray(list)) as readonly Json[] | undefined;
  return titled?.map((one) => ({ value: String(one.const), label: textOf(one.title) ?? String(one.const) }));
}

const defaultsOf = ({ default: value }: Json): readonly string[] =>
  value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)];
