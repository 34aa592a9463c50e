import { isObject, listOf } from '../../json.ts';
import { type Place, refuse } from '../place.ts';

const IDENTIFIER = /^\p{ID_Start}[\p{ID_Continue}]{0,79}$/u;

/** The names that states of this flow assign, including rules and catchers, without inner flows. */
export function assignedNames(states: Record<string, unknown>): Set<string> {
  const names = new Set<string>();
  for (const state of Object.values(states)) {
    if (!isObject(state)) continue;
    for (const part of [state, ...listOf(state.Choices), ...listOf(state.Catch)]) {
      if (isObject(part) && isObject(part.Assign)) for (const name of Object.keys(part.Assign)) names.add(name);
    }
  }
  return names;
}

/** The variables visible in a flow. An inner flow reads outer variables and may not reuse their names. */
export function visibleNames(states: Record<string, unknown>, outer: ReadonlySet<string>, place: Place): Set<string> {
  const own = assignedNames(states);
  for (const name of own)
    if (outer.has(name)) refuse(place, `the variable '${name}' is already assigned in an outer scope`);
  return new Set([...outer, ...own]);
}

export function checkVariableName(name: string, place: Place): void {
  if (name === 'states' || !IDENTIFIER.test(name)) refuse(place, `'${name}' cannot be a variable`);
}
