import { ENGINES } from '../engines.ts';
import type { TaskRecord } from '../record.ts';
import { type Change, sameDueAt } from './change.ts';
import { openEvent } from './event.ts';
import { checkAgain } from './run.ts';

/**
 * A run of the round was started on Express at `at`, or earlier. Nothing can be asked about it, so the sweep comes back when
 * it is probably over. Holds only while no other writer has moved the time of that check: one of them starts a run.
 */
export function awaitRun(record: TaskRecord, at: number): Change {
  const { set, ...change } = checkAgain(record, at, ENGINES.express.dead);
  return { ...change, ...sameDueAt(record), set: { ...set, seenRound: record.round } };
}

/** The round starts again on Express. Write it before the start: each start there is one more run. */
export function restartOnExpress(record: TaskRecord, now: number): Change {
  const { set, ...change } = awaitRun(record, now);
  const last = record.events.at(-1);
  // A start that was refused is tried again each minute, and is one event.
  const isRetry = last?.what === 'restarted' && now - last.at < ENGINES.express.dead;
  return { ...change, set: { ...set, engine: 'express' }, ...(!isRetry && openEvent('restarted', record, now)) };
}

/** On Express, no start of the round can have run: the next sweep starts it, if no other one has done so meanwhile. */
export function startDue(record: TaskRecord, now: number): Change {
  return { ...sameDueAt(record), from: ['working'], round: record.round, set: { seenRound: record.round, dueAt: now } };
}
