import { limits } from '../tasks/limits.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { type Change, lookAgain, restarted } from '../tasks/transitions.ts';
import { type Decision, decide } from './decide.ts';

/**
 * As `decide` for a task on Express, where nothing can be asked about a run: once it is surely over, the round starts
 * again, the first one as well. The tool may be repeated, and a run that never began cannot be told from one that died.
 */
export function decideExpress(record: TaskRecord | undefined, now: number): Decision {
  const decision = decide(record, now);
  if (record === undefined || (decision.kind !== 'look' && decision.kind !== 'look_again'))
    return withoutStop(decision);
  // A start would be too late: the task lapses within the grace.
  if (now >= record.deadlineAt) return { kind: 'nothing' };
  if (decision.kind === 'look') return { kind: 'postponed', change: awaitEnd(record, now) };
  return { kind: 'run_lost', start: true, change: restarted(record, now, limits.express.dead) };
}

/** The sweep comes back when the run is surely over: every start of a round comes before its first check. */
function awaitEnd(record: TaskRecord, now: number): Change {
  const over = (record.dueAt ?? now) + limits.express.longest;
  const { set, ...change } = lookAgain(record, now, over - now);
  return { ...change, set: { ...set, seenRound: record.round } };
}

function withoutStop(decision: Decision): Decision {
  if (!('stop' in decision)) return decision;
  const { stop: _, ...rest } = decision;
  return rest;
}
