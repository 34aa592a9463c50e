import type { Clock } from '../clock.ts';
import type { Journal } from './journal.ts';

export interface StepOptions {
  /**
   * Tries work that throws again, in the same run. A ToolError, the end of the task and a question are passed on at once.
   * @default the work is tried once
   * @example { attempts: 3 }
   */
  readonly retry?: Retry;
  /**
   * Never begins the work a second time: before it, an entry is stored, which costs one more write unit. If a later run finds
   * no result, the step throws StepInterrupted. Has no effect in a direct call, and excludes `retry`. @default false
   * @example true
   */
  readonly atMostOnce?: boolean;
}

export interface Retry {
  /** How often the work is tried, the first time included. @example 3 */
  readonly attempts: number;
  /**
   * The longest wait before the second try, in ms; twice as long before each further one, up to a minute.
   * @default 1000
   * @example 200
   */
  readonly backoff?: number;
}

/** In ms. */
const LONGEST_WAIT = 60_000;
/** Errors that another try does not change. */
const FINAL = ['ToolError', 'TaskEnded', 'RoundEnd'];

/** The parts of a run that its steps need. */
export interface Stepping {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Throws if the run may not begin now what no run has done. */
  readonly begin: () => void;
}

/** Does a step that no run of the task has done, and returns its result. */
export function doStep(
  { journal, clock, signal, begin }: Stepping,
  name: string,
  work: () => unknown,
  { retry, atMostOnce = false }: StepOptions,
): Promise<unknown> {
  if (atMostOnce && retry !== undefined) throw new Error(`Step '${name}': choose between retry and atMostOnce`);
  const make = retry === undefined ? work : () => tried(work, retry, (ms) => clock.sleep(ms, signal));
  return journal.once('step', name, make, atMostOnce, begin);
}

/** Between two tries it waits between half of the time and all of it, so that runs that failed together do not try together. */
async function tried(work: () => unknown, { attempts, backoff = 1_000 }: Retry, sleep: (ms: number) => Promise<void>) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(attempt < attempts) || FINAL.includes((error as Error | undefined)?.name ?? '')) throw error;
      await sleep(Math.min(backoff * 2 ** (attempt - 1), LONGEST_WAIT) * (0.5 + Math.random() / 2));
    }
  }
}
