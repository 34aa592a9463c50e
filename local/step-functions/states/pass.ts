import type { Fields } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import type { State } from '../flow.ts';
import { loadExit, loadNext } from './exit.ts';

export function loadPass(fields: Fields, loader: Loader): State['visit'] {
  const exit = loadExit(fields, loader, loadNext(fields, loader));
  return (visit) => exit(visit, visit.input);
}
