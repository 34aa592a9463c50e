import { isObject } from '../../json.ts';
import { allOrAbort } from '../abort.ts';
import type { Fields } from '../definition/fields.ts';
import type { Loader } from '../definition/loader.ts';
import { type Flow, runFlow, type State, scopeOf, type Visit } from '../flow.ts';
import type { Template } from '../jsonata/template.ts';
import { payload } from '../payload.ts';
import { refuse } from '../place.ts';
import { loadRecoverable } from './recovery.ts';
import { checked, loadNumber, loadValue } from './value.ts';

// The AWS limit for an inline Map, and the meaning of 0 ("no limit") there.
const MOST_CONCURRENT = 40;

export function loadMap(fields: Fields, loader: Loader): State['visit'] {
  const items = loadValue(fields, loader, 'Items', isList, 'an array');
  const selector = loader.template(fields, 'ItemSelector');
  const concurrency = loadNumber(fields, loader, 'MaxConcurrency', { least: 0, most: Number.MAX_SAFE_INTEGER });
  const flow = loadProcessor(fields, loader);

  return loadRecoverable(fields, loader, async (visit) => {
    const list = items ? await items(visit) : checked(visit, 'Items', visit.input, isList, 'an array');
    const wanted = (await concurrency?.(visit)) || MOST_CONCURRENT;
    const { history } = visit.run;
    const event = history.add('MapStateStarted', visit.event, { length: list.length });
    return mapAll(list, Math.min(wanted, MOST_CONCURRENT), visit.signal, (item, index, signal) =>
      iterate(flow, selector, { ...visit, signal, event }, item, index),
    );
  });
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

function loadProcessor(fields: Fields, loader: Loader): Flow {
  const processor = fields.object('ItemProcessor');
  const config = processor.take('ProcessorConfig');
  if (config !== undefined && !(isObject(config) && config.Mode === 'INLINE' && Object.keys(config).length === 1)) {
    refuse(processor.at('ProcessorConfig'), `only { "Mode": "INLINE" } is known to the embedded Step Functions`);
  }
  return loader.flow(processor);
}

async function iterate(flow: Flow, selector: Template | undefined, visit: Visit, item: unknown, index: number) {
  const context = { ...visit.context, Map: { Item: { Index: index, Value: item } } };
  const inside = { ...visit, context };
  const input = selector === undefined ? item : await selector(scopeOf(inside));
  const { history } = visit.run;
  const details = { name: visit.state, index };
  const event = history.add('MapIterationStarted', visit.event, details);
  const output = await runFlow(flow, payload(input, visit.state), { ...inside, event });
  history.add('MapIterationSucceeded', event, details);
  return output;
}

/** Maps with at most `width` items at a time. Results keep the order of the items. */
async function mapAll<T>(
  items: readonly unknown[],
  width: number,
  parent: AbortSignal,
  map: (item: unknown, index: number, signal: AbortSignal) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  const queue = items.entries();
  const work = async (signal: AbortSignal) => {
    for (const [index, item] of queue) results[index] = await map(item, index, signal);
  };
  await allOrAbort(parent, (signal) => Array.from({ length: Math.min(width, items.length) }, () => work(signal)));
  return results;
}
