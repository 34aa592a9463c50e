import { isObject, type JsonObject } from '../json.ts';
import { compileComparison, type Refuse, type Test } from './comparisons.ts';

export type Matches = (event: JsonObject) => boolean;

export type { Refuse } from './comparisons.ts';

/**
 * An event pattern: each of its fields must be in the event, with one of the listed values. A value is a literal or a
 * comparison: see comparisons.ts. `$or` lists patterns of which one must match.
 */
export function compilePattern(pattern: JsonObject, refuse: Refuse, path = 'EventPattern'): Matches {
  const fields = Object.entries(pattern).map(([name, wanted]) => compileField(name, wanted, refuse, `${path}.${name}`));
  // EventBridge too refuses empty objects.
  if (fields.length === 0) return refuse(path, pattern);
  return (event) => fields.every((matches) => matches(event));
}

function compileField(name: string, wanted: unknown, refuse: Refuse, path: string): Matches {
  if (name === '$or') return compileOr(wanted, refuse, path);
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

function compileOr(wanted: unknown, refuse: Refuse, path: string): Matches {
  // EventBridge takes a name `$or` with anything else as the name of a field.
  if (!Array.isArray(wanted) || wanted.length < 2 || !wanted.every(isObject)) return refuse(path, wanted);
  const patterns = wanted.map((pattern) => compilePattern(pattern, refuse, path));
  return (event) => patterns.some((matches) => matches(event));
}

function compileValue(wanted: unknown, refuse: Refuse, path: string): Test {
  if (Array.isArray(wanted)) return refuse(path, wanted);
  return isObject(wanted) ? compileComparison(wanted, refuse, path) : (value) => value === wanted;
}
