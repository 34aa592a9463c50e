import type { Journal, Pass } from '../journal/journal.ts';

/** The order in which the runs of a task get past its waits, where several wait at the same time. */
export interface PassLog {
  /** Undefined: no run has got past this wait beside others. */
  passOf(wait: string): Pass | undefined;
  /** The last pass while this work went on. */
  lastBeside(work: string): Pass | undefined;
  /** Stores that the runs get past this wait next, and returns it, or the one that another run has stored. */
  note(wait: string, beside: readonly string[]): Promise<unknown>;
}

/** @param journal of the run; there when the first wait is over */
export function passLog(journal: () => Journal): PassLog {
  return {
    passOf: (wait) => journal().passes().get(wait),
    lastBeside: (work) =>
      [...journal().passes().values()]
        .filter(({ beside }) => beside.includes(work))
        .toSorted((a, b) => b.place - a.place)[0],
    async note(wait, beside) {
      const stored = await journal().once('pass', String(journal().passes().size), () => [wait, ...beside]);
      return [stored].flat()[0];
    },
  };
}
