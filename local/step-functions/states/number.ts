import { describeBounds, type Fields, isNumber, type NumberBounds } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { scopeOf, type Visit } from '../flow.ts';
import { isExpression, queryError } from '../jsonata/template.ts';
import { refuse } from '../place.ts';

/** Reads a field that is a number or an expression for one: TimeoutSeconds, Seconds, MaxConcurrency. */
export function loadNumber(
  fields: Fields,
  loader: Loader,
  name: string,
  bounds: NumberBounds,
): ((visit: Visit) => Promise<number>) | undefined {
  const source = fields.take(name);
  if (source === undefined) return undefined;
  if (!isExpression(source) && !isNumber(source, bounds)) {
    refuse(fields.at(name), `must be ${describeBounds(bounds)}, or a JSONata expression`);
  }
  const template = loader.template(fields, name);
  return async (visit) => {
    const scope = scopeOf(visit);
    const value = await template?.(scope);
    if (isNumber(value, bounds)) return value;
    throw queryError(scope, `The field '${name}' must be ${describeBounds(bounds)}, but was ${JSON.stringify(value)}.`);
  };
}
