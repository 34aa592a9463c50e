import type { Journal, Pass, StoredPass } from '../journal/journal.ts';

/** The order in which the runs of a task get past its waits, where several wait at the same time. */
export interface PassLog {
  /** Undefined: no run has got past this wait beside others. */
  passOf(wait: string): Pass | undefined;
  all(): readonly Pass[];
  /** Stores that the runs get past this wait next, and returns it, or the one that another run has stored. */
  note(pass: StoredPass): Promise<string>;
}

/** @param journal of the run; there when the first wait is over */
export function passLog(journal: () => Journal): PassLog {
  const all = () => [...journal().passes().values()];
  return {
    all,
    passOf: (wait) => journal().passes().get(wait),
    async note(pass) {
      const place = Math.max(-1, ...all().map((one) => one.place)) + 1;
      return ((await journal().once('pass', String(place), () => pass)) as StoredPass).wait;
    },
  };
}
