import { describe, expect, test } from 'vitest';
import { StepInterrupted, type Task } from '../../../../functions/tool/index.ts';
import { type JournalPort, memoryJournal } from '../../../../functions/tool/journal/port.ts';
import { event, onStandard, sharedTable, toolOf } from './support.ts';

const DEAD = Symbol('dead');
const never = new Promise<never>(() => {});

/** The journal of a run that dies at its n-th call: before it, or after it was carried out. Undefined: it lives. */
function mortal(port: JournalPort, at: number | undefined, when: 'before' | 'after') {
  const { promise: died, resolve: die } = Promise.withResolvers<typeof DEAD>();
  let calls = 0;
  let dead = false;
  const call = async <T>(make: () => Promise<T>): Promise<T> => {
    const last = ++calls === at;
    if (last && when === 'before') dead = true;
    const answer = dead ? never : await make();
    if (last) dead = true;
    if (!dead) return answer;
    die(DEAD);
    return never;
  };
  const journal: JournalPort = {
    read: (...given) => call(() => port.read(...given)),
    entry: (...given) => call(() => port.entry(...given)),
    write: (...given) => call(() => port.write(...given)),
    writePlace: (...given) => call(() => port.writePlace(...given)),
    largeValue: (...given) => call(() => port.largeValue(...given)),
  };
  return { journal, died, calls: () => calls };
}

/** Two plain steps, with one between them that is begun at most once. Notes what its steps do. */
const tool = (done: string[]) =>
  toolOf(async (task: Task) => {
    const first = await task.step('first', () => done.push('first') && `first ${task.attempt}`);
    task.setVariable('since', task.attempt);
    const pay = () => done.push('pay') && `paid ${task.attempt}`;
    const paid = await task.step('pay', pay, { atMostOnce: true }).catch((error: unknown) => {
      if (error instanceof StepInterrupted) return 'interrupted';
      throw error;
    });
    const last = await task.step('last', () => done.push('last') && `last ${task.attempt}`);
    return { first, paid, last, since: task.getVariable('since') };
  });

/** Runs the tool again until it lives. The n-th entry of `deaths` is the call at which the n-th run dies. */
async function lived(deaths: readonly number[], when: 'before' | 'after') {
  const port = memoryJournal();
  const done: string[] = [];
  const seen: unknown[] = [];
  for (let attempt = 0; ; attempt++) {
    const { journal, died } = mortal(port, deaths[attempt], when);
    const context = { ...sharedTable().context, journal };
    const ran = tool(done).runWith(event({ ...onStandard, attempt }), context);
    const outcome = await Promise.race([ran, died]);
    seen.push(...(await port.read(onStandard)).entries.filter(({ value }) => value !== undefined));
    if (outcome !== DEAD) return { result: outcome as Record<string, unknown>, done, port, seen };
  }
}

// A first run makes four writes. A later one reads first.
const CALLS = [1, 2, 3, 4, 5];
const deaths = CALLS.flatMap((first) => [[first], ...CALLS.map((second) => [first, second])]);

describe.each(['before', 'after'] as const)('a run that dies %s one of its calls', (when) => {
  test.each(deaths.map((each) => [each.join(', then '), each] as const))('%s', async (_name, each) => {
    const { result, done, port, seen } = await lived(each, when);
    const count = (name: string) => done.filter((one) => one === name).length;
    expect(count('pay')).toBeLessThanOrEqual(1);
    expect(count('first')).toBeGreaterThanOrEqual(1);
    // One run more for each death, at most.
    expect(count('first')).toBeLessThanOrEqual(1 + each.length);
    // A run sees what is stored, and what was stored once stays.
    const { entries } = await port.read(onStandard);
    expect(entries).toEqual(expect.arrayContaining(seen));
    const stored = Object.fromEntries(entries.map(({ name, value }) => [name, value && JSON.parse(value)]));
    expect(result).toMatchObject({ first: stored.first, paid: stored.pay ?? 'interrupted', last: stored.last });
    if (result.paid === 'interrupted') expect(count('pay')).toBeLessThanOrEqual(1);
    else expect(count('pay')).toBe(1);
  });
});

test('a run that dies after its step was stored does that step once, and before it twice', async () => {
  const after = await lived([1], 'after');
  expect(after.done).toEqual(['first', 'pay', 'last']);
  const before = await lived([1], 'before');
  expect(before.done).toEqual(['first', 'first', 'pay', 'last']);
});

test('a run that dies after it began a step leaves it interrupted, with its result lost', async () => {
  // The third write would be the result.
  const { result, done } = await lived([3], 'before');
  expect(result).toMatchObject({ first: 'first 0', paid: 'interrupted', last: 'last 1' });
  expect(done).toEqual(['first', 'pay', 'last']);
});
