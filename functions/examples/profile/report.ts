/** Says how far the work is, from 0 to 1, and lets other events run. Throws when the task is over. */
export type Report = (message: string, done?: number) => Promise<void>;

/** The report of one phase, whose 0 to 1 is a stretch of the whole: progress never runs backwards. */
export function stretch(report: Report, from: number, to: number): Report {
  return (message, done = 0) => report(message, from + (to - from) * Math.min(1, done));
}
