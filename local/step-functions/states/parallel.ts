import { allOrAbort } from '../abort.ts';
import type { Fields } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { runFlow, type State, scopeOf } from '../flow.ts';
import { payload } from '../payload.ts';
import { refuse } from '../place.ts';
import { loadRecoverable } from './recovery.ts';

export function loadParallel(fields: Fields, loader: Loader): State['visit'] {
  const template = loader.template(fields, 'Arguments');
  const branches = fields.list('Branches').map((branch) => loader.flow(branch));
  if (branches.length === 0) refuse(fields.at('Branches'), 'needs at least one branch');

  return loadRecoverable(fields, loader, async (visit) => {
    const input = template === undefined ? visit.input : payload(await template(scopeOf(visit)), visit.state);
    return allOrAbort(visit.signal, (signal) => branches.map((branch) => runFlow(branch, input, { ...visit, signal })));
  });
}
