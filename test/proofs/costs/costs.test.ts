import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EventsContext } from '../../../functions/mcp/events/context.ts';
import { eventMethods } from '../../../functions/mcp/events/methods.ts';
import { methods } from '../../../functions/mcp/methods/index.ts';
import { RECEIVERS_HERE } from '../../../local/marks.ts';
import { useAssembly, useCloud } from '../../support/cloud.ts';
import { eventCosts } from './events.ts';
import type { Cost } from './meter.ts';
import { resourceCosts } from './resources.ts';
import { worstCosts } from './worst.ts';

/** The table of docs/limits.md: by method and revision, the most that a request can cost. */
function bounds(): Map<string, Cost> {
  const page = readFileSync('docs/limits.md', 'utf8');
  const [, part = ''] = page.split('## The most that one request can cost');
  const rows = (part.split('\n## ')[0] ?? '').split('\n').filter((line) => /^\| `?[a-zG]/.test(line));
  return new Map(
    rows.slice(1).flatMap((line) => {
      const [, names = '', revisions = '', read, write, log, , out] = line.split('|').map((cell) => cell.trim());
      const number = (cell = '') => Number(cell.replaceAll(',', ''));
      const bound = { read: number(read), write: number(write), log: number(log), out: number(out) };
      return names
        .split(', ')
        .flatMap((name) =>
          revisions.split(', ').map((revision) => [`${name.replaceAll('`', '')}, ${revision}`, bound] as const),
        );
    }),
  );
}

const logged = { bytes: 0 };
const onLog = (source: string, line: string) => {
  if (source.includes('ServerEndpoint')) logged.bytes += Buffer.byteLength(line) + 1;
};
const cloud = useCloud('brief', { onLog });
const withEvents = useCloud('assembly', {
  assembly: useAssembly('test/cloud/events/unheld-app.ts'),
  variables: RECEIVERS_HERE,
  onLog,
});
const withFiles = useCloud('assembly', { assembly: useAssembly('test/cloud/files/app.ts'), onLog });
let costs = new Map<string, Cost>();
beforeAll(async () => {
  const bytes = () => logged.bytes;
  const ofEvents = await eventCosts(withEvents(), bytes);
  costs = new Map([...ofEvents, ...(await resourceCosts(withFiles(), bytes)), ...(await worstCosts(cloud(), bytes))]);
});

describe('the most that one request can cost', () => {
  const known = bounds();

  test('every method of both revisions has a bound, of 110 read units at once or less', () => {
    const all = [
      ...[...methods.legacy.keys()].map((name) => `${name}, 2025-11-25`),
      ...[...methods.modern.keys(), ...eventMethods({} as EventsContext).keys()].map((name) => `${name}, 2026-07-28`),
    ];
    expect(all.filter((name) => !known.has(name))).toEqual([]);
    expect(all.filter((name) => !costs.has(name))).toEqual([]);
    expect([...known].flatMap(([name, { read }]) => (read > 110 ? [name] : []))).toEqual([]);
  });

  test.each([...bounds().keys()])('%s keeps to it', (name) => {
    const [cost, bound] = [costs.get(name), known.get(name)];
    if (cost === undefined || bound === undefined) throw new Error(`${name} was not measured`);
    if (process.env.COSTS) console.log(name, JSON.stringify(cost));
    const over = (Object.keys(bound) as (keyof Cost)[]).filter((what) => !(cost[what] <= bound[what]));
    expect(over.map((what) => `${what}: ${cost[what]}, at most ${bound[what]}`)).toEqual([]);
  });
});
