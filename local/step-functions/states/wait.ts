import { type Fields, MOST_SECONDS } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { type State, scopeOf, type Visit } from '../flow.ts';
import { isExpression, queryError } from '../jsonata/template.ts';
import { refuse } from '../place.ts';
import { loadExit, loadNext } from './exit.ts';
import { loadNumber } from './number.ts';

type Delay = (visit: Visit) => Promise<number>;

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export function loadWait(fields: Fields, loader: Loader): State['visit'] {
  if (fields.has('Seconds') === fields.has('Timestamp')) refuse(fields.place, 'Wait has either Seconds or Timestamp');
  const delay = loadSeconds(fields, loader) ?? loadTimestamp(fields, loader);
  const exit = loadExit(fields, loader, loadNext(fields, loader));
  return async (visit) => {
    await visit.run.replay.sleep(visit.state, await delay(visit), visit.signal);
    return exit(visit, visit.input);
  };
}

function loadSeconds(fields: Fields, loader: Loader): Delay | undefined {
  const seconds = loadNumber(fields, loader, 'Seconds', { least: 0, most: MOST_SECONDS });
  return seconds && (async (visit) => (await seconds(visit)) * 1000);
}

function loadTimestamp(fields: Fields, loader: Loader): Delay {
  const source = fields.text('Timestamp');
  if (!isExpression(source) && !isTimestamp(source)) refuse(fields.at('Timestamp'), 'must be an RFC 3339 timestamp');
  const timestamp = loader.template(fields, 'Timestamp');
  return async (visit) => {
    const scope = scopeOf(visit);
    const value = await timestamp?.(scope);
    if (isTimestamp(value)) return Date.parse(value) - visit.run.replay.now();
    throw queryError(scope, `The field 'Timestamp' must be an RFC 3339 timestamp, but was ${JSON.stringify(value)}.`);
  };
}

function isTimestamp(value: unknown): value is string {
  return typeof value === 'string' && RFC3339.test(value) && !Number.isNaN(Date.parse(value));
}
