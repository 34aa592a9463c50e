import { isObject, type JsonObject } from '../json.ts';

export type Matches = (event: JsonObject) => boolean;
type Test = (value: unknown) => boolean;

/** Refuses a part of a pattern that this cloud does not know. */
export type Refuse = (path: string, value: unknown) => never;

/**
 * An event pattern: each of its fields must be in the event, with one of the listed values. Of the comparisons of
 * EventBridge it knows literals and `{ "prefix": "…" }`.
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
    return ({ [name]: found }) => isObject(found) && inner(found);
  }
  if (!Array.isArray(wanted) || wanted.length === 0) return refuse(path, wanted);
  const tests = wanted.map((value) => compileValue(value, refuse, path));
  // A list in the event matches if one of its entries does.
  return (event) =>
    Object.hasOwn(event, name) && [event[name]].flat().some((value) => tests.some((matches) => matches(value)));
}

function compileValue(wanted: unknown, refuse: Refuse, path: string): Test {
  if (Array.isArray(wanted)) return refuse(path, wanted);
  if (!isObject(wanted)) return (value) => value === wanted;
  const { prefix, ...others } = wanted;
  if (typeof prefix !== 'string' || Object.keys(others).length > 0) return refuse(path, wanted);
  return (value) => typeof value === 'string' && value.startsWith(prefix);
}
