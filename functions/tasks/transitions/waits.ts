import { BEFORE_ROUND } from '../attributes.ts';
import { type Engine, traitsOf } from '../engines.ts';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { nextCheck, type Waits, waitsOf } from '../waits/waits.ts';
import { type Change, dueBy, unmoved } from './change.ts';
import { openEvent } from './event.ts';

/**
 * A round ends with these waits, as `lib/workflow/outcome.jsonata` writes it. If it asks its client, too, that comes first.
 *
 * @param asked the change of a round that asks
 */
export function waitAfter(asked: Change, record: TaskRecord, waits: Waits, asks: boolean, now: number): Change {
  const set = { ...asked.set, waits: JSON.stringify(waits) };
  if (asks) return { ...asked, set };
  const { event: _, ...change } = asked;
  return {
    ...change,
    set: { ...set, status: 'waiting', dueAt: dueBy(record, nextCheck(waits)) },
    ...openEvent('waits', record, now),
  };
}

/** The next round begins, on `engine`: all that the record waits for has come. Write it before the start. */
export function resume(record: TaskRecord, engine: Engine, now: number): Change {
  const round = record.round + 1;
  const { dead } = traitsOf({ engine });
  return {
    from: ['waiting'],
    round: record.round,
    set: {
      status: 'working',
      round,
      updatedAt: now,
      engine,
      reportsFrom: record.reportsFrom ?? record.round,
      dueAt: dueBy(record, now + (dead ?? limits.firstDue)),
      // Each start there is one more run: after this write, only its writer starts one.
      ...(dead !== undefined && { seenRound: round }),
    },
    remove: BEFORE_ROUND,
    ...openEvent('resumed', record, now),
  };
}

/** The sweep comes back when the waits of the record are over. */
export function waitOn(record: TaskRecord): Change {
  const at = nextCheck(waitsOf(record) ?? {});
  return { ...unmoved(record), from: ['waiting'], round: record.round, set: { dueAt: dueBy(record, at) } };
}
