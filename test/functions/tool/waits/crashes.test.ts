import { describe, expect, test } from 'vitest';
import type { Signal, ToolEvent } from '../../../../functions/tasks/tool-contract.ts';
import { type Clock, clockOf } from '../../../../functions/tool/clock.ts';
import { elicitForm, type Task } from '../../../../functions/tool/index.ts';
import { type JournalPort, memoryJournal } from '../../../../functions/tool/journal/port.ts';
import { EndedRound } from '../../../../functions/tool/waits/ended-round.ts';
import { event, onExpress, onStandard, sharedTable, toolOf } from '../journal/support.ts';
import { DAY, NOON, SECOND } from './support.ts';

const DEAD = Symbol('dead');
const PLACE = { url: 'https://mcp.example/signals', key: 'k' };
const ANSWER: Signal = { action: 'accept', content: { ok: true }, at: 1 };
const ask = elicitForm('Buy it?', { ok: { type: 'boolean' } });

/** Mails a link, waits for its answer and for a night, works through a list, and checks for a condition. */
const tool = (mails: string[]) =>
  toolOf(async (task: Task) => {
    const link = await task.link('approval', ask, { within: { days: 3 } });
    await task.step('mail', () => void mails.push(`${link.url} ${link.until}`));
    const [answer] = await Promise.all([link.answer(), task.sleep('night', { hours: 8 })]);
    const list = await task.map('list', ['a', 'b'], (item) => item, { concurrency: 1 });
    let checks = 0;
    const times = { every: { hours: 1 }, within: { days: 1 } };
    const found = await task.until('ready', () => (task.round > 2 || ++checks > 1) && 'ready', times);
    return { action: answer.action, list, found };
  });

/** A port that calls `at` before, or after, its n-th call. */
function watched(port: JournalPort, n: number, when: 'before' | 'after', at: () => Promise<void>): JournalPort {
  let calls = 0;
  const call = async <T>(make: () => Promise<T>): Promise<T> => {
    const isAt = ++calls === n;
    if (isAt && when === 'before') await at();
    const made = await make();
    if (isAt && when === 'after') await at();
    return made;
  };
  return {
    read: (...given) => call(() => port.read(...given)),
    entry: (...given) => call(() => port.entry(...given)),
    write: (...given) => call(() => port.write(...given)),
    writePlace: (...given) => call(() => port.writePlace(...given)),
    largeValue: (...given) => call(() => port.largeValue(...given)),
  };
}

/** Plays a task to its end. Something happens at the n-th call of one round: the run dies, or another one does the same round. */
async function played(round: number, n: number, when: 'before' | 'after', what: 'dies' | 'meets another') {
  const port = memoryJournal();
  const mails: string[] = [];
  const ends: string[] = [];
  let now = NOON;
  const clock: Clock = {
    ...clockOf(),
    now: () => now,
    left: () => 900 * SECOND,
    async sleep(ms) {
      now += ms;
    },
  };
  const run = (at: number, attempt: number, journal: JournalPort) => {
    const task = what === 'dies' ? { ...onStandard, attempt } : onExpress(`${attempt}`);
    const given: ToolEvent = event({ ...task, round: at, deadline: NOON + 30 * DAY, envelope: 1, signals: PLACE });
    const signals = at > 1 ? { signals: { approval: ANSWER } } : {};
    return tool(mails).runWith({ ...given, ...signals }, { ...sharedTable().context, journal }, clock);
  };
  for (let at = 1; at < 9; at++) {
    const { promise: died, resolve } = Promise.withResolvers<typeof DEAD>();
    const happens = async () => {
      if (what === 'meets another') return void (await run(at, 1, port));
      resolve(DEAD);
      await new Promise(() => {});
    };
    const first = run(at, 0, at === round ? watched(port, n, when, happens) : port);
    let outcome = await Promise.race([first, died]);
    now += 60 * SECOND;
    if (outcome === DEAD) outcome = await run(at, 1, port);
    if (!(outcome instanceof EndedRound))
      return { result: outcome, mails, ends, entries: (await port.read(onStandard)).entries };
    const { night, approval } = outcome.waits ?? {};
    ends.push(...[night, approval].flatMap((wait) => (wait && 'until' in wait ? [`${wait.kind} ${wait.until}`] : [])));
    now = Math.max(...Object.values(outcome.waits ?? {}).map((wait) => ('until' in wait ? wait.until : now)));
  }
  throw new Error('The task does not end');
}

const CALLS = [1, 2, 3, 4, 5, 6, 7];
const cases = [1, 2, 3].flatMap((round) =>
  CALLS.flatMap((n) => (['before', 'after'] as const).map((when) => [round, when, n] as const)),
);

describe.each(['dies', 'meets another'] as const)('a run with waits that %s', (what) => {
  test.each(cases)('in round %d, %s its call %d, loses no wait and moves none', async (round, when, n) => {
    const { result, mails, ends, entries } = await played(round, n, when, what);
    expect(result).toEqual({ action: 'accept', list: ['a', 'b'], found: 'ready' });
    // One link was given away, with one end, by each run that mailed it.
    expect(new Set(mails).size).toBe(1);
    expect(mails.length).toBeLessThanOrEqual(2);
    for (const kind of ['time', 'link']) {
      expect(new Set(ends.filter((end) => end.startsWith(kind))).size, kind).toBeLessThanOrEqual(1);
    }
    const { value = '' } = entries.find(({ name }) => name === 'approval') ?? {};
    expect(mails[0]).toContain(` ${JSON.parse(value).until}`);
    expect(entries.map(({ kind, name }) => `${kind} ${name}`).toSorted()).toEqual([
      'pass 0',
      'step list 1/2',
      'step list 2/2',
      'step mail',
      'step ready',
      'wait approval',
      'wait night',
      'wait ready',
    ]);
  });
});
