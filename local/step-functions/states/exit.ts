import { isObject } from '../../json.ts';
import type { Fields } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { checkVariableName } from '../definition/variables.ts';
import { type Step, scopeOf, type Visit } from '../flow.ts';
import type { StatesMember } from '../jsonata/inspect.ts';
import type { Scope, Template, Variables } from '../jsonata/template.ts';
import { payload } from '../payload.ts';
import { refuse } from '../place.ts';

/** Leaves a state. `natural` is the output without an Output field, `more` adds members to `$states`. */
export type Exit = (visit: Visit, natural: unknown, more?: Scope['states']) => Promise<Step>;

export function loadNext(fields: Fields, loader: Loader): string | undefined {
  if (!fields.has('End')) return loader.target(fields, 'Next');
  if (fields.has('Next')) refuse(fields.at('End'), 'stands beside Next');
  if (fields.take('End') !== true) refuse(fields.at('End'), 'must be true');
  return undefined;
}

/** Loads Output and Assign of a state, a Choice rule or a Catcher. Both see the variables from before the Assign. */
export function loadExit(
  fields: Fields,
  loader: Loader,
  next: string | undefined,
  members: readonly StatesMember[] = [],
): Exit {
  const output = loader.template(fields, 'Output', members);
  const assign = loadAssign(fields, loader, members);
  return async (visit, natural, more = {}) => {
    const scope = scopeOf(visit, more);
    return {
      output: payload(output === undefined ? natural : await output(scope), visit.state),
      assigned: assign === undefined ? {} : (payload(await assign(scope), visit.state) as Variables),
      next,
    };
  };
}

function loadAssign(fields: Fields, loader: Loader, members: readonly StatesMember[]): Template | undefined {
  const source = fields.take('Assign');
  if (source === undefined) return undefined;
  if (!isObject(source)) return refuse(fields.at('Assign'), 'must be an object');
  for (const name of Object.keys(source)) checkVariableName(name, fields.at('Assign'));
  return loader.template(fields, 'Assign', members);
}
