import { describe, expect, test } from 'vitest';
import type { Moment } from '../../../functions/operator/moments.ts';
import type { RunFacts } from '../../../functions/operator/runs.ts';
import { timelineOf } from '../../../functions/operator/timeline.ts';

type Told = Parameters<typeof timelineOf>[0];
const run = (round: number, startedAt: number, more: Partial<RunFacts> = {}): RunFacts => ({
  ...{ round, startedAt, executionArn: 'arn', status: 'SUCCEEDED', failures: [] },
  ...more,
});
const told = (happened: readonly Moment[], runs: readonly RunFacts[], more: Partial<Told> = {}): Told => ({
  ...{ status: 'completed', round: 1, createdAt: 0, updatedAt: 100, deadlineAt: 900, happened, runs },
  ...more,
});
/** `aws 0-10, tool 10-90`, lane by lane. */
const lanes = (story: Told, now = 1_000) =>
  timelineOf(story, now).lanes.map(
    ({ kind, round, spans }) =>
      `${kind} ${round}: ${spans.map(({ waiting, from, to, error = '' }) => `${waiting} ${from}-${to}${error}`).join(', ')}`,
  );
const ended = { at: 100, what: 'completed' };

describe('where the time of a task went', () => {
  test('the waits for AWS, for the tool and for people follow each other', () => {
    const happened = [
      { at: 0, what: 'created' },
      { at: 40, what: 'asked' },
      { at: 70, what: 'answered' },
      { at: 100, what: 'completed', round: 2 },
    ];
    const runs = [run(1, 10, { attempts: [{ from: 12, to: 38 }] }), run(2, 75, { attempts: [{ from: 75, to: 95 }] })];
    const story = told(happened, runs, { round: 2 });
    expect(lanes(story)).toEqual([
      'round 1: aws 0-12, tool 12-38, aws 38-40',
      'question 1: people 40-70',
      'round 2: aws 70-75, tool 75-95, aws 95-100',
    ]);
    expect(timelineOf(story, 1_000)).toMatchObject({
      open: false,
      to: 100,
      totals: { aws: 24, tool: 46, people: 30, clock: 0 },
    });
  });

  test('between two attempts it waits for AWS, and each failed one names its error', () => {
    const attempts = [
      { from: 5, to: 10 },
      { from: 40, to: 90 },
    ];
    const failures = [{ at: 10, error: 'Runtime.ExitError' }];
    expect(lanes(told([ended], [run(1, 5, { attempts, failures })]))).toEqual([
      'round 1: aws 0-5, tool 5-10Runtime.ExitError, aws 10-40, tool 40-90, aws 90-100',
    ]);
  });

  test('an open task goes on until now, one past its deadline until that', () => {
    const working = { status: 'working', updatedAt: 0 } as const;
    const runs = [run(1, 5, { status: 'RUNNING', attempts: [{ from: 5 }] })];
    expect(lanes(told([], runs, working), 500)).toEqual(['round 1: aws 0-5, tool 5-500']);
    expect(timelineOf(told([], runs, working), 500).open).toBe(true);
    expect(lanes(told([], runs, { ...working, seenAs: 'failed' }), 2_000)).toEqual(['round 1: aws 0-5, tool 5-900']);
    const asks = told([{ at: 20, what: 'asked' }], [run(1, 5)], { status: 'input_required', updatedAt: 20 });
    expect(lanes(asks, 60)).toEqual(['round 1: aws 0-5, tool 5-20', 'question 1: people 20-60']);
  });

  test("without a run all time is AWS's, and without a history a whole run is the tool's", () => {
    expect(lanes(told([ended], []))).toEqual(['round 1: aws 0-100']);
    expect(lanes(told([ended], [run(1, 5, { stoppedAt: 98 })]))).toEqual(['round 1: aws 0-5, tool 5-98, aws 98-100']);
    expect(lanes(told([{ ...ended, startedAt: 7 }], []))).toEqual(['round 1: aws 0-7, tool 7-100']);
  });

  test('clocks that differ make no span that overlaps or ends before it begins', () => {
    const happened = [
      { at: 30, what: 'asked' },
      { at: 28, what: 'answered' },
      { ...ended, round: 2 },
    ];
    const runs = [run(1, -5, { attempts: [{ from: -4, to: 50 }] }), run(2, 20, { attempts: [{ from: 20, to: 130 }] })];
    expect(lanes(told(happened, runs, { round: 2 }))).toEqual(['round 1: tool 0-30', 'round 2: tool 30-100']);
  });

  test('rounds that are not known any more count as time of AWS', () => {
    const { totals, lanes: known } = timelineOf(told([{ ...ended, round: 7 }], [run(7, 80)], { round: 7 }), 1_000);
    expect(known.map(({ round }) => round)).toEqual([7]);
    expect(totals).toEqual({ aws: 80, tool: 20, people: 0, clock: 0 });
  });

  test('the states of a machine have lanes below their round, which add nothing to the totals', () => {
    const tries = [
      { from: 20, to: 30, error: 'Again' },
      { from: 50, to: 60 },
    ];
    const visits = [
      { name: 'Charge', from: 15, to: 62, tries },
      { name: 'Settle', from: 62, tries: [] },
    ];
    const runs = [run(1, 10, { attempts: [{ from: 12, to: 90 }], visits })];
    const { lanes: all, totals } = timelineOf(told([ended], runs), 1_000);
    expect(all.map(({ kind, name, visits: count }) => [kind, name, count])).toEqual([
      ['round', undefined, undefined],
      ['state', 'Charge', 1],
      ['state', 'Settle', 1],
    ]);
    expect(lanes(told([ended], runs)).slice(1)).toEqual([
      'state 1: aws 15-20, tool 20-30Again, aws 30-50, tool 50-60, aws 60-62',
      'state 1: tool 62-100',
    ]);
    expect(totals).toEqual({ aws: 22, tool: 78, people: 0, clock: 0 });
  });

  test('a round that waits for the clock goes on when the next one begins', () => {
    const happened = [
      { at: 0, what: 'created' },
      { at: 40, what: 'waits' },
      { at: 70, what: 'resumed' },
      { at: 80, what: 'waits', round: 2 },
    ];
    const runs = [run(1, 10), run(2, 75)];
    const story = told(happened, runs, { round: 2, status: 'waiting' });
    expect(lanes(story, 95)).toEqual([
      'round 1: aws 0-10, tool 10-40',
      'wait 1: clock 40-70',
      'round 2: aws 70-75, tool 75-80',
      'wait 2: clock 80-95',
    ]);
    expect(timelineOf(story, 95).totals).toEqual({ aws: 15, tool: 35, people: 0, clock: 45 });
  });

  test('what a record had no room for ends with the start of the next round', () => {
    const events = [
      { at: 0, what: 'created' },
      { at: 95, what: 'completed', round: 2, startedAt: 60 },
    ];
    expect(lanes(told(events, [run(1, 5)], { round: 2 }))).toEqual([
      'round 1: aws 0-5, tool 5-60',
      'round 2: tool 60-95',
    ]);
    const asked = [{ at: 30, what: 'asked' }, ...events];
    expect(lanes(told(asked, [run(1, 5)], { round: 2 }))).toEqual([
      'round 1: aws 0-5, tool 5-30',
      'question 1: people 30-60',
      'round 2: tool 60-95',
    ]);
    const waits = [{ at: 30, what: 'waits' }, ...events];
    expect(lanes(told(waits, [run(1, 5)], { round: 2 }))[1]).toBe('wait 1: clock 30-60');
  });

  test('without runs the events say when each round began, and which answer was its own', () => {
    const happened = [
      { at: 0, what: 'created' },
      { at: 20, what: 'asked', startedAt: 7 },
      { at: 30, what: 'answered' },
      { at: 60, what: 'asked', round: 2, startedAt: 35 },
      { at: 80, what: 'answered', round: 2 },
      { at: 100, what: 'completed', round: 3, startedAt: 90 },
    ];
    expect(lanes(told(happened, [], { round: 3 }))).toEqual([
      'round 1: aws 0-7, tool 7-20',
      'question 1: people 20-30',
      'round 2: aws 30-35, tool 35-60',
      'question 2: people 60-80',
      'round 3: aws 80-90, tool 90-100',
    ]);
  });

  test('a task ends with its last outcome, whatever its record says after that', () => {
    const ends = (...happened: readonly Moment[]) => timelineOf(told(happened, [], { updatedAt: 150 }), 1_000).to;
    expect(ends({ at: 20, what: 'asked' }, { at: 100, what: 'completed' }, { at: 105, what: 'run ended' })).toBe(100);
    expect(ends({ at: 20, what: 'asked' })).toBe(150);
  });

  test('an open task goes on past its deadline, as long as readers see it open', () => {
    expect(timelineOf(told([], [], { status: 'working' }), 910)).toMatchObject({ open: true, to: 910 });
  });

  test('a round that took no time has no lane, nor has a state', () => {
    const happened = [
      { at: 0, what: 'asked' },
      { at: 50, what: 'answered' },
      { ...ended, round: 2 },
    ];
    const visits = [
      { name: 'Skip', from: 60, to: 60, tries: [] },
      { name: 'Fail', from: 60, to: 60, tries: [{ from: 60, to: 60, error: 'OutOfStock' }] },
    ];
    expect(lanes(told(happened, [run(1, 0), run(2, 50, { visits })], { round: 2 }))).toEqual([
      'question 1: people 0-50',
      'round 2: tool 50-100',
      'state 2: tool 60-60OutOfStock',
    ]);
    const waits = [
      { at: 40, what: 'waits' },
      { at: 40, what: 'resumed' },
      { ...ended, round: 2 },
    ];
    expect(lanes(told(waits, [run(1, 0), run(2, 40)], { round: 2 }))).toEqual([
      'round 1: tool 0-40',
      'round 2: tool 40-100',
    ]);
  });

  test('a state goes on until its task ended, whatever the clock of its round says', () => {
    const visits = [{ name: 'Work', from: 10, tries: [] }];
    const happened = [{ at: 130, what: 'asked' }, ended];
    expect(lanes(told(happened, [run(1, 10, { visits })]))).toContain('state 1: tool 10-100');
  });

  test('of many states the last 30 are shown, and of many tries in one the last 200', () => {
    const states = Array.from({ length: 31 }, (_, i) => ({ name: `S${i}`, from: i, to: i + 1, tries: [] }));
    const names = timelineOf(told([ended], [run(1, 0, { visits: states })]), 1_000).lanes.map(({ name }) => name);
    expect(names).toEqual([undefined, ...states.slice(1).map(({ name }) => name)]);
    const tries = Array.from({ length: 201 }, (_, i) => ({ from: i, to: i + 1 }));
    const visits = [{ name: 'Loop', from: 0, to: 201, tries }];
    const story = told([{ ...ended, at: 300 }], [run(1, 0, { visits })]);
    const spans = timelineOf(story, 1_000).lanes.find(({ kind }) => kind === 'state')?.spans ?? [];
    expect([spans.length, spans[0]?.from, spans.at(-1)?.to]).toEqual([200, 1, 201]);
  });
});
