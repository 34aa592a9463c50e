import type { TaskRecord } from '../tasks/record.ts';
import type { RunFacts } from './runs.ts';

/** One thing that happened to a task. */
export interface Moment {
  /** In ms since the epoch. */
  readonly at: number;
  readonly what: string;
  readonly round?: number;
  /** What wrote it: `endpoint`, `workflow`, `reconciler`, `deadline`, `operator`. */
  readonly by?: string;
  /** An operator: who, and why. */
  readonly who?: string;
  readonly reason?: string;
  readonly error?: string;
  /** When the workflow of its round began, in ms since the epoch. */
  readonly startedAt?: number;
}

/** What happened, the oldest first: what the record holds, and the runs that Step Functions knows. */
export function momentsOf(record: TaskRecord, runs: readonly RunFacts[]): Moment[] {
  const stored = record.events.map(({ retries: _, ...event }) => event);
  const moments: Moment[] = [...stored, ...runs.flatMap(ofRun)];
  const timeOf = (moment: Moment) => Math.max(moment.at, ...failuresBefore(moment, runs));
  return moments.toSorted((a, b) => timeOf(a) - timeOf(b) || rankOf(a) - rankOf(b));
}

/** How far the clocks of AWS may differ within one run, in ms. */
const CLOCKS = 1_000;
const OUTCOMES: readonly string[] = ['asked', 'waits', 'completed', 'failed'];

/** The failed attempts of a round come before the outcome that its workflow writes, whatever the clocks say. */
function failuresBefore({ what, at, by, round = 1 }: Moment, runs: readonly RunFacts[]): number[] {
  if (by !== undefined || !OUTCOMES.includes(what)) return [];
  const times = runs
    .filter((run) => run.round === round)
    .flatMap(({ failures }) => failures.map((failure) => failure.at));
  return times.filter((time) => time <= at + CLOCKS);
}

/** The order of moments in the same millisecond: what starts a run, its start, its attempts, its outcome, its end. */
function rankOf({ what }: Moment): number {
  const order = [['created', 'answered', 'resumed'], ['run started'], ['attempt failed'], OUTCOMES];
  const rank = order.findIndex((names) => names.includes(what));
  return rank === -1 ? order.length : rank;
}

/** How a run ended. One that succeeded has written an outcome, whatever the outcome is. */
const ENDS: Readonly<Record<string, string>> = {
  FAILED: 'run failed',
  TIMED_OUT: 'run timed out',
  ABORTED: 'run stopped',
};

function ofRun({ round, startedAt, stoppedAt, status, failures, error }: RunFacts): Moment[] {
  return [
    ...(startedAt === undefined ? [] : [{ at: startedAt, what: 'run started', round }]),
    ...failures.map((failure) => ({ at: failure.at, what: 'attempt failed', round, error: failure.error })),
    ...(stoppedAt === undefined
      ? []
      : [{ at: stoppedAt, what: ENDS[status] ?? 'run ended', round, ...(error !== undefined && { error }) }]),
  ];
}
