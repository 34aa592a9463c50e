import type { Engine } from '../tasks/engines.ts';
import type { TaskRecord } from '../tasks/record.ts';
import { awaitRun, restartedOnStandard, restartOnExpress } from '../tasks/transitions/express.ts';
import { isSeen } from '../tasks/transitions/run.ts';
import { type Decision, decide, postpone } from './decide.ts';
import { outcome } from './outcome.ts';

/** How the tool of a task is registered now. A deployment may have changed it since the task began. */
export interface ToolNow {
  readonly engine: Engine | undefined;
  /** It may run again after a run that perhaps happened. */
  readonly repeatable: boolean;
}

/**
 * As `decide` for a task whose round began on Express, or whose tool is there now. Nothing can be asked about a run on
 * Express, so the round starts again once its run is probably over, the first round as well: a run that never began cannot
 * be told from one that died (docs/crash-table.md, "On Express").
 */
export function decideExpress(record: TaskRecord, now: number, tool: ToolNow): Decision {
  const decision = decide(record, now);
  if (decision.kind !== 'check' && decision.kind !== 'check_again') return decision;
  // A start would be too late: the task lapses within the grace.
  if (now >= record.deadlineAt) return { kind: 'nothing' };
  const noted = isSeen(record);
  if (record.express !== true) {
    // Its run on Standard may be alive, and its workflow is not known here any more. Of a first round, the arguments are
    // in that workflow only.
    if (noted || record.round === 1) return postpone(record, now);
    return { kind: 'run_lost', start: true, claim: true, change: restartOnExpress(record, now) };
  }
  // Who starts a later round notes that it has begun. A round without a note was not started, as far as is known.
  if (!noted && (record.round === 1 || !tool.repeatable)) {
    return { kind: 'postponed', change: awaitRun(record, record.dueAt ?? now) };
  }
  if (!tool.repeatable) return runEnded(record, now);
  return tool.engine === 'express'
    ? { kind: 'run_lost', start: true, claim: true, change: restartOnExpress(record, now) }
    : { kind: 'run_lost', start: true, change: restartedOnStandard(record, now) };
}

/** The run of this round has ended without a write, and cannot be started again. */
export function runEnded(record: TaskRecord, now: number): Decision {
  return { kind: 'run_ended', change: outcome(record, { status: 'missing' }, now) };
}
