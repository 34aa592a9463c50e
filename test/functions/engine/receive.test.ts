import { describe, expect, test } from 'vitest';
import { receiveSignal } from '../../../functions/engine/receive.ts';
import { resumeRound } from '../../../functions/engine/resume.ts';
import { startAgain } from '../../../functions/engine/start-round.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import type { RoundInput } from '../../../functions/tasks/round-input.ts';
import type { Signal, Wait } from '../../../functions/tasks/tool-contract.ts';
import { answer } from '../../../functions/tasks/transitions/answers.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { after } from '../../../functions/tasks/transitions/change.ts';
import { cancel, finish } from '../../../functions/tasks/transitions/end.ts';
import { memoryEngine } from '../../support/engine/memory.ts';

const T0 = 1_700_000_000_000;
const DAY = 86_400_000;
const task = {
  tool: 'buy',
  ttl: 400 * DAY,
  timeout: 300 * DAY,
  accepts: ['elicitation/create'],
  legacy: false,
  hookKey: 'k',
};
const until = T0 + DAY;
const LINK: Wait = { kind: 'link', until };
const yes = (at: number) => ({ action: 'accept', content: { ok: true }, by: 'Ann', at }) as const;

/** A task in the round that works; `waits` ends the round. */
function setup() {
  let now = T0;
  const engine = memoryEngine(() => now);
  const made = create(newTaskKey({ kind: 'anonymous' }, T0), task, T0);
  engine.records.set(made);
  const context = { ...engine, toolEngine: () => 'standard' as const, log: () => {}, now: () => now };
  const stored = () => engine.records.get(made.taskId) as TaskRecord;
  const signal = (name = 'a', of: (at: number) => Exclude<Signal, { timedOut: true }> = yes, end = until) =>
    receiveSignal({ read: () => engine.store.get(made), name, until: end, signal: of, sleep: async () => {} }, context);
  const waits = (waiting: Record<string, Wait>, more: { text?: string; asks?: boolean } = {}) => {
    const { text = '{"requestState":null}', asks = false } = more;
    const record = stored();
    engine.records.set(after(record, finish(record, { text, asks, isError: false, waits: waiting }, '{}', now)));
  };
  return {
    ...{ engine, context, made, stored, signal, waits },
    pass: (ms: number) => {
      now += ms;
    },
    resume: async () => resumeRound(stored(), context),
    /** What the runs of the task got, the first one first. */
    inputs: (): RoundInput[] => engine.executions.all().map(({ input }) => JSON.parse(input)),
  };
}

test('a signal that comes while the round waits is due at once, and the next run gets it', async () => {
  const { waits, signal, stored, resume, inputs } = setup();
  waits({ a: LINK });
  expect(stored()).toMatchObject({ status: 'waiting', dueAt: until });
  expect(await resume()).toBe('waits');
  expect(await signal()).toMatchObject({ outcome: 'stored', signal: yes(T0) });
  expect(stored()).toMatchObject({ status: 'waiting', dueAt: 0, signalled: ['a'] });
  expect(await resume()).toBe('started');
  expect(stored()).not.toHaveProperty('signalled');
  expect(inputs()).toMatchObject([{ round: 2, inputResponses: {}, signals: { a: yes(T0) }, hookKey: 'k' }]);
});

test('an early signal counts when its round waits; the round that works does not get it', async () => {
  const { waits, signal, stored, resume, inputs, pass } = setup();
  await signal();
  expect(stored()).toMatchObject({ status: 'working', early: T0, signalled: ['a'], dueAt: T0 + limits.firstDue });
  pass(1_000);
  waits({ a: LINK });
  expect(stored().dueAt).toBe(0);
  expect(await resume()).toBe('started');
  expect(stored()).not.toHaveProperty('early');
  expect(inputs()[0]?.signals).toEqual({ a: yes(T0) });
});

test('the next round begins when the first wait is over, and the others stay open over it', async () => {
  const { waits, signal, stored, resume, inputs, pass } = setup();
  const late = T0 + 3 * DAY;
  waits({ a: { kind: 'link', until: late }, b: { kind: 'link', until: late }, night: { kind: 'time', until } });
  expect([stored().dueAt, await resume()]).toEqual([until, 'waits']);
  pass(DAY);
  expect(await resume()).toBe('started');
  expect(inputs()[0]?.signals).toBeUndefined();
  // It comes while the second round works, and counts as soon as that waits for it again.
  expect(await signal('a', yes, late)).toMatchObject({ outcome: 'stored' });
  waits({ a: { kind: 'link', until: late }, b: { kind: 'link', until: late } });
  expect(await resume()).toBe('started');
  expect(inputs()[1]?.signals).toEqual({ a: yes(T0 + DAY) });
});

test('a signal makes its round due at once, also beside a longer wait', async () => {
  const { waits, signal, stored, resume } = setup();
  waits({ a: LINK, night: { kind: 'time', until } });
  await signal('a');
  expect([stored().dueAt, await resume()]).toEqual([0, 'started']);
});

test('a wait whose time is over reaches the next run as such, also beside received signals', async () => {
  const { waits, signal, stored, resume, inputs, pass } = setup();
  waits({ a: LINK, b: { kind: 'webhook', until } });
  await signal('b', (at) => ({ body: [1], at }));
  pass(DAY);
  expect(await resume()).toBe('started');
  expect(inputs()[0]?.signals).toEqual({ a: { timedOut: true }, b: { body: [1], at: T0 } });
  expect(await signal('a')).toMatchObject({ outcome: 'over', signal: { timedOut: true } });
  expect(stored().round).toBe(2);
});

test('the first signal counts; the same again answers like the first, another one is over', async () => {
  const { waits, signal, stored, pass } = setup();
  waits({ a: LINK });
  await signal();
  pass(5);
  expect(await signal()).toMatchObject({ outcome: 'stored', signal: { at: T0 } });
  expect(await signal('a', (at) => ({ action: 'decline', at }))).toMatchObject({ outcome: 'over', signal: yes(T0) });
  expect(stored().events.filter(({ what }) => what === 'signalled')).toHaveLength(1);
});

test.each([
  ['its wait', (set: ReturnType<typeof setup>) => set.pass(DAY)],
  ['its task, by its deadline', (set: ReturnType<typeof setup>) => set.pass(300 * DAY + 1)],
  ['its task, by its client', ({ engine, made }: ReturnType<typeof setup>) => engine.store.apply(made, cancel(T0))],
])('a signal changes nothing after the end of %s', async (_what, end) => {
  const set = setup();
  set.waits({ a: LINK });
  await end(set);
  const before = set.stored();
  expect(await set.signal()).toMatchObject({ outcome: 'over' });
  expect(set.stored()).toEqual(before);
});

test('50 people at once: one counts, and the others get that one', async () => {
  const { waits, signal, stored } = setup();
  waits({ a: LINK });
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, i) => signal('a', (at) => ({ action: 'accept', by: `p${i}`, at }))),
  );
  expect(all.filter((one) => one?.outcome === 'stored')).toHaveLength(1);
  expect(Object.keys(stored().inputResponses ?? {})).toEqual(['w.a']);
});

describe('a record stays small', () => {
  const names = Array.from({ length: 30 }, (_, i) => `w${i}`.padEnd(64, 'x'));

  test('however many signals come before their round waits: the next run gets all', async () => {
    const { waits, signal, stored, resume, inputs } = setup();
    for (const name of names) await signal(name);
    const { signalled = [], early } = stored();
    expect([signalled.length, early]).toEqual([30, 0]);
    expect(Buffer.byteLength(signalled.join(''))).toBeLessThanOrEqual(limits.waits.signalled);
    const over = T0 + 1;
    waits({ [names[29] ?? '']: LINK, late: { kind: 'link', until: over } });
    expect(stored().dueAt).toBe(0);
    expect(await resume()).toBe('started');
    // The record does not know what has come: so nothing timed out, and the next round waits for what is left.
    expect(Object.keys(inputs()[0]?.signals ?? {}).sort()).toEqual([...names].sort());
    expect(stored()).not.toHaveProperty('early');
    waits({ late: { kind: 'link', until: over } });
    expect(await resume()).toBe('waits');
  });

  test('however many signals come for waits of later rounds', async () => {
    const { waits, signal, stored, pass, resume, inputs } = setup();
    waits({ a: LINK });
    for (const name of names) await signal(name);
    expect(stored()).toMatchObject({ dueAt: until, signalled: Array(30).fill('') });
    expect(await resume()).toBe('waits');
    pass(DAY);
    expect(await resume()).toBe('started');
    expect(inputs()[0]?.signals).toMatchObject({ a: { timedOut: true }, [names[0] ?? '']: yes(T0) });
  });
});

test('a signal for a wait that the record had no room for begins the next round, too', async () => {
  const { waits, signal, stored, resume, inputs } = setup();
  waits(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`w${i}`, LINK])));
  await signal('w20');
  expect(stored()).toMatchObject({ signalled: [''], early: 0, dueAt: 0 });
  expect(await resume()).toBe('started');
  expect(inputs()[0]?.signals).toEqual({ w20: yes(T0) });
});

test('signals for 20 waits at once are all kept, and begin one round', async () => {
  const { waits, signal, stored, resume, inputs } = setup();
  const names = Array.from({ length: 20 }, (_, i) => `w${i}`);
  waits(Object.fromEntries(names.map((name) => [name, LINK])));
  const race = () => Promise.all([resume(), resume()]);
  await Promise.all([...names.map((name) => signal(name)), race()]);
  expect(stored().signalled).toHaveLength(20);
  expect((await Promise.all([resume(), resume(), resume()])).filter((done) => done === 'started')).toHaveLength(1);
  expect(Object.keys(inputs()[0]?.signals ?? {})).toHaveLength(20);
});

test('a large signal lies in S3 with the other input; the record still says which wait is over', async () => {
  const { waits, signal, stored, resume, inputs } = setup();
  waits({ a: LINK, b: LINK });
  await signal('a', (at) => ({ body: 'x'.repeat(30_000), at }));
  expect(stored()).toMatchObject({ inputResponses: {}, signalled: ['a'], inputRef: expect.anything() });
  await signal('b');
  expect(await signal('a', (at) => ({ body: 'x'.repeat(30_000), at }))).toMatchObject({ outcome: 'stored' });
  expect(await resume()).toBe('started');
  expect(inputs()[0]?.signals).toMatchObject({ a: { body: 'x'.repeat(30_000) }, b: { action: 'accept' } });
});

test('a task takes what is sent to it up to a bound, and then none is stored', async () => {
  const { waits, signal, stored } = setup();
  waits(Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, LINK])));
  const send = (name: string) => signal(name, (at) => ({ body: 'x'.repeat(32_000), at }));
  for (const name of ['a', 'b', 'c', 'd']) await send(name);
  await expect(send('e')).rejects.toThrow('no room');
  expect(stored().signalled).toEqual(['a', 'b', 'c', 'd']);
});

test('a signal between the read and the write of the next round makes that write lose', async () => {
  const { waits, signal, stored, context } = setup();
  waits({ a: LINK });
  await signal();
  const seen = stored();
  await signal('later', yes, until);
  expect(await resumeRound(seen, context)).toBe('lost');
  expect(await resumeRound(stored(), context)).toBe('started');
});

test('the input of a round does not change when signals come while it works', async () => {
  const { waits, signal, resume, stored, context, inputs } = setup();
  waits({ a: LINK });
  await signal();
  await resume();
  await signal('later', (at) => ({ body: 'x'.repeat(30_000), at }));
  expect(stored().inputRef).toBeDefined();
  // Another input under the same name would be 'taken'.
  expect(await startAgain(stored(), context)).toBe('started');
  expect(inputs()).toMatchObject([{ round: 2, signals: { a: yes(T0) } }]);
});

test('a question of the round is asked first; its answer begins the round if the signal is there', async () => {
  const { waits, signal, stored } = setup();
  const params = { message: '?', requestedSchema: { type: 'object', properties: {} } };
  const inputRequests = { q: { method: 'elicitation/create', params } };
  waits({ a: LINK }, { text: JSON.stringify({ inputRequests }), asks: true });
  await signal();
  expect(stored()).toMatchObject({ status: 'input_required', signalled: ['a'] });
  const begun = after(stored(), answer(stored(), ['r1.q'], { 'r1.q': '{"action":"accept"}' }, T0));
  expect(begun).toMatchObject({ status: 'working', round: 2 });
});

test('a sender whose write was answered too late learns that it counted, after the end, too', async () => {
  const { waits, made, engine, context, stored } = setup();
  waits({ a: LINK });
  const store: typeof context.store = {
    ...context.store,
    async applyBlind(record, change) {
      await engine.store.applyBlind(record, change);
      engine.records.set(after(stored(), cancel(T0)));
      return false;
    },
  };
  const read = () => engine.store.get(made);
  const receiving = { read, name: 'a', until, signal: yes, sleep: async () => {} };
  expect(await receiveSignal(receiving, { ...context, store })).toMatchObject({ outcome: 'stored', signal: yes(T0) });
  expect(await receiveSignal({ ...receiving, signal: (at) => ({ body: 1, at }) }, context)).toMatchObject({
    outcome: 'over',
  });
});

test('a deployment during a wait: the next round runs where its tool is then, or once it is back', async () => {
  const { waits, context, stored, pass } = setup();
  waits({ night: { kind: 'time', until } });
  pass(DAY);
  const resumeOn = (engine: 'express' | undefined) => resumeRound(stored(), { ...context, toolEngine: () => engine });
  expect([await resumeOn(undefined), stored().status]).toEqual(['gone', 'waiting']);
  expect([await resumeOn('express'), stored()]).toMatchObject([
    'started',
    { status: 'working', round: 2, engine: 'express' },
  ]);
});

test('of two signals in one millisecond only the one that counts is acknowledged', async () => {
  const { waits, signal, stored, context, engine, made } = setup();
  waits({ a: LINK });
  let reads = 0;
  const read = async () => {
    const seen = await engine.store.get(made);
    if (reads++ > 0) return seen;
    await signal();
    engine.records.set(after(stored(), cancel(T0)));
    return seen;
  };
  const no = (at: number) => ({ action: 'decline', by: 'Bob', at }) as const;
  const late = await receiveSignal({ read, name: 'a', until, signal: no, sleep: async () => {} }, context);
  expect(late?.outcome).toBe('over');
});
