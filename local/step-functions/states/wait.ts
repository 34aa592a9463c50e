import { type Fields, MOST_SECONDS } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import type { State, Visit } from '../flow.ts';
import { refuse } from '../place.ts';
import { loadExit, loadNext } from './exit.ts';
import { loadNumber, loadValue } from './value.ts';

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export function loadWait(fields: Fields, loader: Loader): State['visit'] {
  if (fields.has('Seconds') === fields.has('Timestamp')) refuse(fields.place, 'Wait has either Seconds or Timestamp');
  const seconds = loadNumber(fields, loader, 'Seconds', { least: 0, most: MOST_SECONDS });
  const timestamp = loadValue(fields, loader, 'Timestamp', isTimestamp, 'an RFC 3339 timestamp');
  const delay = async (visit: Visit): Promise<number> => {
    if (timestamp) return Date.parse(await timestamp(visit)) - visit.run.replay.now();
    return ((await seconds?.(visit)) ?? 0) * 1000;
  };
  const exit = loadExit(fields, loader, loadNext(fields, loader));
  return async (visit) => {
    await visit.run.replay.sleep(visit.state, await delay(visit), visit.signal);
    return exit(visit, visit.input);
  };
}

function isTimestamp(value: unknown): value is string {
  return typeof value === 'string' && RFC3339.test(value) && !Number.isNaN(Date.parse(value));
}
