import { isObject, type JsonObject } from '../json.ts';

/** Whether a value of an event matches; undefined stands for a field that is not there. */
export type Test = (value: unknown) => boolean;

/** Refuses a part of a pattern that this cloud does not know. */
export type Refuse = (path: string, value: unknown) => never;

/**
 * A comparison of "Comparison operators for use in event patterns in Amazon EventBridge": `prefix`, `suffix`,
 * `equals-ignore-case`, `wildcard`, `anything-but`, `numeric` and `exists`. `cidr` is refused.
 */
export function compileComparison(comparison: JsonObject, refuse: Refuse, path: string): Test {
  const [[operator = '', wanted] = [], ...others] = Object.entries(comparison);
  const fail = () => refuse(path, comparison);
  if (others.length > 0) return fail();
  if (operator === 'exists') return typeof wanted === 'boolean' ? (value) => exists(value) === wanted : fail();
  if (operator === 'numeric') return numeric(wanted) ?? fail();
  if (operator === 'anything-but') return anythingBut(wanted) ?? fail();
  return textTest(operator, wanted) ?? fail();
}

/** Whether the event has this leaf: `exists` never matches an object. */
const exists = (value: unknown) => value !== undefined && !isObject(value);

type TextTest = (text: string) => boolean;

function textTest(operator: string, wanted: unknown): Test | undefined {
  const ignoring = isObject(wanted) && Object.keys(wanted).length === 1 ? wanted['equals-ignore-case'] : undefined;
  if (ignoring !== undefined && (operator === 'prefix' || operator === 'suffix')) {
    const lower = textTest(operator, String(ignoring).toLowerCase());
    return (value) => typeof value === 'string' && lower?.(value.toLowerCase()) === true;
  }
  if (typeof wanted !== 'string') return undefined;
  const test = textTests(wanted)[operator];
  return test && ((value) => typeof value === 'string' && test(value));
}

function textTests(wanted: string): Readonly<Partial<Record<string, TextTest>>> {
  return {
    prefix: (text) => text.startsWith(wanted),
    suffix: (text) => text.endsWith(wanted),
    'equals-ignore-case': (text) => text.toLowerCase() === wanted.toLowerCase(),
    wildcard: (text) => wildcard(wanted).test(text),
  };
}

/** `*` stands for any characters, `\*` for itself. */
function wildcard(pattern: string): RegExp {
  const parts = pattern.match(/\\[*\\]|\*|[^*\\]+|\\/g) ?? [];
  const source = parts.map((part) => (part === '*' ? '.*' : escaped(part.replace(/^\\([*\\])$/, '$1'))));
  return new RegExp(`^${source.join('')}$`, 's');
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Matches a value that is there, unless it is listed or a listed comparison matches it. */
function anythingBut(wanted: unknown): Test | undefined {
  if (isObject(wanted)) {
    const [[operator = '', values] = [], ...others] = Object.entries(wanted);
    const tests = [values].flat().map((value) => (typeof value === 'string' ? textTest(operator, value) : undefined));
    if (others.length > 0 || tests.length === 0 || tests.includes(undefined)) return undefined;
    return (value) => exists(value) && !tests.some((test) => test?.(value));
  }
  const values: unknown[] = [wanted].flat();
  const plain = values.every((value) => typeof value === 'string' || typeof value === 'number');
  return plain && values.length > 0 ? (value) => exists(value) && !values.some((one) => one === value) : undefined;
}

const NUMERIC: Readonly<Partial<Record<string, (value: number, bound: number) => boolean>>> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

/** `["=", 5]`, or a range: `[">", 0, "<=", 5]`. */
function numeric(wanted: unknown): Test | undefined {
  if (!Array.isArray(wanted) || (wanted.length !== 2 && wanted.length !== 4)) return undefined;
  const pairs = wanted.length === 2 ? [wanted] : [wanted.slice(0, 2), wanted.slice(2)];
  const tests = pairs.map(([operator, bound]) => {
    const test = NUMERIC[String(operator)];
    return test && typeof bound === 'number' ? (value: number) => test(value, bound) : undefined;
  });
  if (tests.includes(undefined)) return undefined;
  return (value) => typeof value === 'number' && tests.every((test) => test?.(value));
}
