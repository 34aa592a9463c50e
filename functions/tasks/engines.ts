import { MAX_TTL } from './limits.ts';

/** The kind of Step Functions state machine that runs the tasks of a tool. */
export type Engine = 'standard' | 'express';

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
   * In ms: a run that was started this long ago is probably over. AWS may start one from its beginning at any time, so this
   * is no certainty: the tool may be repeated. @default AWS can be asked
   */
  readonly dead?: number;
}

export const ENGINES = {
  // 10 minutes more than any ttl.
  standard: { idempotentStart: true, canBeStopped: true, hasHistory: true, longestRun: MAX_TTL + 600_000 },
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

/** An engine as the record of a task and the metadata of a server hold it. */
export interface EngineMark {
  readonly express?: boolean;
}

export const markOf = (engine: Engine | undefined): EngineMark => (engine === 'express' ? { express: true } : {});

export const engineOf = ({ express }: EngineMark): Engine => (express ? 'express' : 'standard');

export const traitsOf = (marked: EngineMark): RunTraits => ENGINES[engineOf(marked)];

/**
 * What holds of the run of a task. If a deployment has changed the engine of its tool, the state machine of the run is gone.
 *
 * @param now the engine of its tool, as it is registered now
 */
export const runTraits = (record: EngineMark, now: Engine | undefined): RunTraits =>
  now === 'express' ? ENGINES.express : traitsOf(record);
