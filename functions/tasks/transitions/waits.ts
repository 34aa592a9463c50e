import { BEFORE_ROUND } from '../attributes.ts';
import { type Engine, engineOf, traitsOf } from '../engines.ts';
import { limits } from '../limits.ts';
import type { TaskRecord } from '../record.ts';
import { type StoredSignal, signalKey } from '../waits/signals.ts';
import { awaited, isFull, nextCheck, UNNAMED, UNNAMED_EARLY, type Waits, waitsOf } from '../waits/waits.ts';
import { type Change, dueBy, sameDueAt, unanswered } from './change.ts';
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
    set: { ...set, status: 'waiting', dueAt: dueBy(record, nextCheck({ ...record, ...set })) },
    ...openEvent('waits', record, now),
  };
}

/**
 * Adds the signal for a wait, which may come before its round waits: see `early` of a record. The write does not begin the next
 * round: the reader of the table's stream, a poll or the sweep does.
 */
export function receive(record: TaskRecord, name: string, stored: StoredSignal, now: number): Change {
  const { status, signalled: before = [] } = record;
  const works = status === 'working';
  const isWanted = works || Object.hasOwn(waitsOf(record) ?? {}, name);
  // The record stays small, however many come: readers need the names of its own waits only.
  const isNamed = isWanted && Buffer.byteLength([...before, name].join('')) <= limits.waits.signalled;
  // Its run may wait for this one, too, where the record had no room for its waits.
  const early = record.early === UNNAMED_EARLY || (!isNamed && (isWanted || isFull(record))) ? UNNAMED_EARLY : now;
  const seen = { ...record, signalled: [...before, isNamed ? name : UNNAMED], early };
  return {
    ...unanswered(record),
    from: [record.status],
    set: {
      updatedAt: now,
      inputResponses: { ...record.inputResponses, [signalKey(name)]: JSON.stringify(stored) },
      signalled: seen.signalled,
      ...((works || early === UNNAMED_EARLY) && { early }),
      ...(status === 'waiting' && { dueAt: dueBy(record, nextCheck(seen)) }),
    },
    ...openEvent('signalled', record, now),
  };
}

/** The next round begins, on `engine`: what the record waits for has come, or some of it. Write it before the start. */
export function resume(record: TaskRecord, engine: Engine, now: number): Change {
  const round = record.round + 1;
  const { dead } = traitsOf({ engine });
  return {
    ...unanswered(record),
    from: ['waiting'],
    set: {
      status: 'working',
      round,
      updatedAt: now,
      ...(engine !== engineOf(record) && { engine }),
      inputResponses: { ...record.inputResponses, ...timedOut(record, now) },
      reportsFrom: record.reportsFrom ?? record.round,
      dueAt: dueBy(record, now + (dead ?? limits.firstDue)),
      // Each start there is one more run: after this write, only its writer starts one.
      ...(dead !== undefined && { seenRound: round }),
    },
    remove: BEFORE_ROUND,
    ...openEvent('resumed', record, now),
  };
}

/** The signals of links and webhooks whose time is over, as answers, for the next round. All others stay open over it. */
export function timedOut(record: TaskRecord, now: number): Readonly<Record<string, string>> {
  const stored: StoredSignal = { round: record.round, signal: { timedOut: true } };
  return Object.fromEntries(awaited(record, now).map((name) => [signalKey(name), JSON.stringify(stored)]));
}

/** The sweep comes back when the first wait of the record is over. */
export function waitOn(record: TaskRecord): Change {
  const at = nextCheck(record);
  return { ...sameDueAt(record), from: ['waiting'], round: record.round, set: { dueAt: dueBy(record, at) } };
}
