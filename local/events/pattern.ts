import { isObject, type JsonObject } from '../json.ts';

export type Matches = (event: JsonObject) => boolean;

/** Refuses a part of a pattern that this cloud does not know. */
type Refuse = (path: string, value: unknown) => never;

/** Whether a value of an event matches; undefined stands for a field that is not there. */
type Test = (value: unknown) => boolean;

/**
 * Compiles an event pattern: each of its fields must be in the event, with one of the listed values. A value is a literal,
 * or one of the comparisons `prefix` and `exists`. All others are refused.
 */
export function compilePattern(pattern: JsonObject, refuse: Refuse, path = 'EventPattern'): Matches {
  const fields = Object.entries(pattern).map(([name, wanted]) => compileField(name, wanted, refuse, `${path}.${name}`));
  // EventBridge too refuses empty objects.
  if (fields.length === 0) return refuse(path, pattern);
  return (event) => fields.every((matches) => matches(event));
}

function compileField(name: string, wanted: unknown, refuse: Refuse, path: string): Matches {
  if (name.startsWith('$')) return refuse(path, wanted);
  if (isObject(wanted)) {
    const inner = compilePattern(wanted, refuse, path);
    // Without the object, its fields are absent.
    return (event) => {
      const found = Object.hasOwn(event, name) ? event[name] : {};
      return isObject(found) && inner(found);
    };
  }
  if (!Array.isArray(wanted) || wanted.length === 0) return refuse(path, wanted);
  const tests = wanted.map((value) => compileValue(value, refuse, path));
  return (event) => {
    // A list in the event matches if one of its entries does.
    const values = Object.hasOwn(event, name) ? [event[name]].flat() : [ABSENT];
    return values.some((value) => tests.some((matches) => matches(value)));
  };
}

/** The value of a field that is not there. Only `{ "exists": false }` matches it. */
const ABSENT = undefined;

function compileValue(wanted: unknown, refuse: Refuse, path: string): Test {
  if (Array.isArray(wanted)) return refuse(path, wanted);
  if (!isObject(wanted)) return (value) => value === wanted;
  const [[operator, value] = [], ...others] = Object.entries(wanted);
  if (others.length > 0) return refuse(path, wanted);
  if (operator === 'prefix' && typeof value === 'string') {
    return (found) => typeof found === 'string' && found.startsWith(value);
  }
  // `exists` never matches an object.
  if (operator === 'exists' && typeof value === 'boolean') {
    return (found) => (found !== undefined && !isObject(found)) === value;
  }
  return refuse(path, wanted);
}
