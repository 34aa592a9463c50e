/** What the end of a round knows of work that goes on while other code of the run waits. */
export interface WorkKind {
  /** What later runs find done. */
  readonly name?: string;
  /** It only lets time pass. */
  readonly sleeps?: boolean;
}

export interface Work extends WorkKind {
  readonly outer: Work | undefined;
  /** How many waits its own code awaits. */
  waits: number;
  /** Whether its own code has come to the end of the round. */
  isEnded: boolean;
}

/** The work, and all work around it, innermost first. */
export const around = (work: Work | undefined): Work[] => (work === undefined ? [] : [work, ...around(work.outer)]);
export const namesOf = (works: readonly Work[]): string[] => works.flatMap(({ name }) => name ?? []);
/** The innermost step. */
export const stepOf = (works: readonly Work[]): Work | undefined =>
  works.find(({ name = '' }) => name.startsWith('step#'));
