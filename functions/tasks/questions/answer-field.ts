import { limits } from '../limits.ts';
import { isObject } from '../shape.ts';

/**
 * One field of a form, as both published schemas define them (PrimitiveSchemaDefinition). Keywords that they do not
 * have, and limits that no value can meet, do not count: a mistake of the tool must not leave the client without a
 * valid answer. `pattern` is one of these keywords; it could also take forever to match.
 */

export type Json = Readonly<Record<string, unknown>>;
/** A sentence for the client. It names fields and limits of the question and repeats nothing of the answer. */
export type Problem = string | undefined;
type Check = (value: unknown, at: string) => Problem;

/** `at` names the value in the message. */
export function fieldProblem(field: Json, value: unknown, at: string): Problem {
  return field.type === 'array' ? listProblem(field, value, at) : scalarCheck(field)(value, at);
}

function listProblem({ minItems, maxItems, items }: Json, value: unknown, at: string): Problem {
  if (!Array.isArray(value)) return `${at} must be a list`;
  const limit = countLimit(value.length, minItems, maxItems);
  if (limit !== undefined) return `${at} must have ${limit} item(s)`;
  const check = scalarCheck(isObject(items) ? items : {});
  for (const [index, item] of value.entries()) {
    const problem = check(item, `${at}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Every choice of the form is valid. If none of them fits the type and limits of the field, other values may, too. */
function scalarCheck(field: Json): Check {
  const choices = new Set(choicesOf(field));
  const closed = [...choices].some((choice) => typeProblem(field, choice, '') === undefined);
  return (value, at) => {
    if (choices.has(value)) return undefined;
    return typeProblem(field, value, at) ?? (closed ? `${at} must be one of the choices of the form` : undefined);
  };
}

/** Untitled (`enum`, with or without the legacy `enumNames`) or titled. Empty if one of them is an object or a list. */
function choicesOf({ enum: untitled, oneOf, anyOf }: Json): readonly unknown[] {
  const titled = [oneOf, anyOf].find(Array.isArray)?.map((option: unknown) => (isObject(option) ? option.const : {}));
  const choices: readonly unknown[] = Array.isArray(untitled) ? untitled : (titled ?? []);
  return choices.every((choice) => choice === null || ['string', 'number', 'boolean'].includes(typeof choice))
    ? choices
    : [];
}

function typeProblem(field: Json, value: unknown, at: string): Problem {
  switch (field.type) {
    case 'string':
      return stringProblem(field, value, at);
    case 'number':
    case 'integer':
      return numberProblem(field, value, at);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${at} must be true or false`;
    default:
      return undefined;
  }
}

function stringProblem({ minLength, maxLength, format }: Json, value: unknown, at: string): Problem {
  if (typeof value !== 'string') return `${at} must be a string`;
  const limit = countLimit([...value].length, minLength, maxLength);
  if (limit !== undefined) return `${at} must have ${limit} character(s)`;
  const known = formats.get(format);
  return known === undefined || known.matches(value) ? undefined : `${at} must be ${known.name}`;
}

function numberProblem({ type, minimum, maximum }: Json, value: unknown, at: string): Problem {
  const whole = type === 'integer';
  // JSON.parse reads 1e999 as Infinity.
  if (typeof value !== 'number' || !Number.isFinite(value)) return `${at} must be ${whole ? 'an integer' : 'a number'}`;
  if (whole && !Number.isInteger(value)) return `${at} must be an integer`;
  const least = isFiniteNumber(minimum) ? minimum : -Infinity;
  const most = isFiniteNumber(maximum) ? maximum : Infinity;
  const limit = whole ? limitOf(value, Math.ceil(least), Math.floor(most)) : limitOf(value, least, most);
  return limit && `${at} must be ${limit}`;
}

/** A minimum above the size of any answer does not count. */
const countLimit = (count: number, min: unknown, max: unknown): string | undefined =>
  limitOf(count, isCount(min) && min <= limits.inputResponses ? min : 0, isCount(max) ? max : Infinity);

/** The limit that was missed. */
function limitOf(amount: number, least: number, most: number): string | undefined {
  if (least > most) return undefined;
  if (amount < least) return `at least ${least}`;
  return amount > most ? `at most ${most}` : undefined;
}

/** What a browser's email field accepts (the rule of the HTML standard). */
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
/** The characters of RFC 3986. URL then checks the structure: alone, it would repair what it reads. */
const URI = /^[a-z][a-z\d+.-]*:(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\da-f]{2})+$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;
/** RFC 3339, with its leap second. */
const TIME = /^T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

const formats = new Map<unknown, { readonly name: string; readonly matches: (text: string) => boolean }>([
  ['email', { name: 'an email address', matches: (text) => EMAIL.test(text) }],
  ['uri', { name: 'an absolute URI', matches: (text) => URI.test(text) && URL.canParse(text) }],
  ['date', { name: 'a date (YYYY-MM-DD)', matches: isCalendarDate }],
  [
    'date-time',
    {
      name: 'a date-time (RFC 3339)',
      matches: (text) => isCalendarDate(text.slice(0, 10)) && TIME.test(text.slice(10)),
    },
  ],
]);

/** Date turns February 30 into March 1 or 2. A date that exists stays the same. */
function isCalendarDate(text: string): boolean {
  const time = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value);
const isCount = (value: unknown): value is number => isFiniteNumber(value) && Number.isInteger(value) && value >= 0;
