import type { Fields } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { StatesError } from '../errors.ts';
import { type State, scopeOf, type Visit } from '../flow.ts';
import type { Template } from '../jsonata/template.ts';
import { payload } from '../payload.ts';
import { checked } from './value.ts';

export function loadSucceed(fields: Fields, loader: Loader): State['visit'] {
  const output = loader.template(fields, 'Output');
  return async (visit) => {
    const value = output === undefined ? visit.input : await output(scopeOf(visit));
    return { output: payload(value, visit.state), assigned: {}, next: undefined };
  };
}

export function loadFail(fields: Fields, loader: Loader): State['visit'] {
  const error = loader.template(fields, 'Error');
  const cause = loader.template(fields, 'Cause');
  return async (visit) => {
    throw new StatesError(await text(visit, error, 'Error'), await text(visit, cause, 'Cause'));
  };
}

async function text(visit: Visit, template: Template | undefined, field: string): Promise<string> {
  return template === undefined ? '' : checked(visit, field, await template(scopeOf(visit)), isText, 'a string');
}

const isText = (value: unknown): value is string => typeof value === 'string';
