import { describeBounds, type Fields, isNumber, type NumberBounds } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { scopeOf, type Visit } from '../flow.ts';
import { isExpression, queryError } from '../jsonata/template.ts';
import { refuse } from '../place.ts';

/**
 * Reads a field that is a value of one kind or an expression for one; undefined if it is absent.
 *
 * @param what names the kind in messages
 */
export function loadValue<T>(
  fields: Fields,
  loader: Loader,
  name: string,
  is: (value: unknown) => value is T,
  what: string,
): ((visit: Visit) => Promise<T>) | undefined {
  const source = fields.take(name);
  if (source === undefined) return undefined;
  if (!isExpression(source) && !is(source)) refuse(fields.at(name), `must be ${what}, or a JSONata expression`);
  const template = loader.template(fields, name);
  return async (visit) => checked(visit, name, await template?.(scopeOf(visit)), is, what);
}

/** Returns the value of a field. Fails the state if the value is of another kind. */
export function checked<T>(
  visit: Visit,
  name: string,
  value: unknown,
  is: (value: unknown) => value is T,
  what: string,
): T {
  if (is(value)) return value;
  throw queryError(scopeOf(visit), `The field '${name}' must be ${what}, but was ${JSON.stringify(value)}.`);
}

/** Reads a number: TimeoutSeconds, Seconds, MaxConcurrency. */
export function loadNumber(fields: Fields, loader: Loader, name: string, bounds: NumberBounds) {
  const is = (value: unknown): value is number => isNumber(value, bounds);
  return loadValue(fields, loader, name, is, describeBounds(bounds));
}
