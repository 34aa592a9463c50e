import { afterAll, beforeAll, expect, test } from 'vitest';
import { SIMPLE } from './cost/prices.ts';
import { measureSteps, measureUnits, type Row } from './units/measure.ts';
import { startUnits, type UnitsSetup } from './units/setup.ts';

/** Fewer than the 100 of `npm run proof -- units`: the units that grow with them are bounded by this number. */
const OPEN_TASKS = 15;

let setup: UnitsSetup | undefined;
let rows: readonly Row[] = [];
beforeAll(async () => {
  setup = await startUnits(OPEN_TASKS);
  rows = await measureUnits(setup, OPEN_TASKS);
});
afterAll(() => setup?.stop());

/** The docs promise them (docs/deploying.md, "What a request reads and writes"). */
test.each<[string, string, number, number]>([
  ['a simple task altogether, without polls', 'few open tasks', 2, 6],
  ['tasks/get', 'finished', 1.5, 0],
  ['tasks/get', 'working', 1.5, 0],
  ['tools/call, refused: the first', 'no free slot', OPEN_TASKS + 3, 3],
  ['tools/call, refused: the next 2 s', 'no free slot', 2, 0],
  // One more if the window in which lists are counted has just begun.
  ['tools/call, a new task', 'of which the newest has ended', OPEN_TASKS + 4, 7],
  ['subscriptions/listen, opened', `on ${OPEN_TASKS - 1} open tasks`, 1.5 * OPEN_TASKS, 2],
  ['subscriptions/listen, a later read', `on ${OPEN_TASKS - 1} open tasks`, 0.5 * (OPEN_TASKS - 1), 0],
  ['subscriptions/listen, refused', 'as many streams as there may be', 2, 1],
  ['tasks/list', 'no task', 1, 0],
])('%s (%s): %d read and %d write units at most', (request, state, read, write) => {
  const found = rows.filter((row) => row.request === request && row.state.endsWith(state));
  expect(found).toHaveLength(1);
  expect(found[0]?.read).toBeLessThanOrEqual(read);
  expect(found[0]?.write).toBeLessThanOrEqual(write);
});

test('each step of 100 bytes costs 1.1 write units at most, however many came before it', async () => {
  const steps = await measureSteps(setup as UnitsSetup, [10, 100]);
  expect(steps.map(({ state, index }) => [Number.parseInt(state, 10), index])).toEqual([
    [10, 0],
    [100, 0],
  ]);
  for (const { state, write } of steps) expect(write / Number.parseInt(state, 10), state).toBeLessThanOrEqual(1.1);
});

test('a simple task that is polled five times takes the units that its price is computed from', () => {
  const of = (request: string, state: string) =>
    rows.find((row) => row.request === request && row.state.endsWith(state));
  const [simple, poll] = [of('a simple task altogether, without polls', 'few open tasks'), of('tasks/get', 'working')];
  const { read = 0, write = 0, index = 0 } = simple ?? {};
  expect({ write: write + index, read: read + 5 * (poll?.read ?? 0) }).toEqual(SIMPLE);
});

test('the indexes of a simple task cost 5 more write units than the table', () => {
  const simple = rows.find(({ request }) => request === 'a simple task altogether, without polls');
  // `due`: in and out. `status`: in, and from one status to another.
  expect(simple?.index).toBe(2 + 3);
});

test('each measured request reads or writes, except a direct call', () => {
  expect(rows.filter(({ read, write }) => read + write === 0).map(({ request }) => request)).toEqual([
    'tools/call of a forbidden tool',
  ]);
});
