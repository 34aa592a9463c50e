import { DAY, MAX_TTL } from './limits.ts';

/**
 * The workflow that runs the tasks of a tool: Step Functions Standard, Express, or `machine`, which is Standard, too, and runs
 * tools that are state machines. Each server has one workflow for each engine.
 */
export type Engine = 'standard' | 'express' | 'machine';

/** What an engine allows of the run of a round. Code asks for these, not for the engine. */
export interface RunTraits {
  /** A name starts one run. Otherwise each start is one more run, so only the writer of a round starts it, after its write. */
  readonly idempotentStart: boolean;
  readonly canBeStopped: boolean;
  /** AWS can be asked for the run, its states and its input, and sends an event of its end. */
  readonly hasHistory: boolean;
  /** In ms: Step Functions ends the run after this (https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html). */
  readonly longestRun: number;
  /** In ms: its tool has this long, the rest is for the last write. @default until the deadline of its task */
  readonly work?: number;
  /** In ms: the most that the tool's function may take, so that it can start a little late. @default as Lambda allows */
  readonly function?: number;
  /**
   * In ms: a run that was started this long ago is probably over. AWS may start one from its beginning at any time, so
   * the run may still be alive: the tool may be repeated. @default AWS can be asked
   */
  readonly dead?: number;
}

// 10 minutes more than any ttl, but for the last day: "Maximum execution time: 1 year".
const STANDARD = {
  idempotentStart: true,
  canBeStopped: true,
  hasHistory: true,
  longestRun: Math.min(MAX_TTL + 600_000, 365 * DAY),
} as const;

export const ENGINES = {
  standard: STANDARD,
  machine: STANDARD,
  express: {
    idempotentStart: false,
    canBeStopped: false,
    hasHistory: false,
    longestRun: 300_000,
    work: 270_000,
    function: 240_000,
    dead: 330_000,
  },
} as const satisfies Readonly<Record<Engine, RunTraits>>;

export const ENGINE_NAMES = Object.keys(ENGINES) as readonly Engine[];

/** The engine of a record: its round runs there, whatever its tool has now. */
export const engineOf = ({ engine = 'standard' }: { readonly engine?: Engine }): Engine => engine;

export const traitsOf = (record: { readonly engine?: Engine }): RunTraits => ENGINES[engineOf(record)];
