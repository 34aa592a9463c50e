/**
 * Tells how far the work is, from 0 to 1, and lets other events run; call it every few ten milliseconds. Throws Stopped
 * when there is no point in going on.
 */
export type Report = (message: string, done: number) => Promise<void>;

/** The report of one phase, whose 0 to 1 is a stretch of the whole: progress never runs backwards. */
export function stretch(report: Report, from: number, to: number): Report {
  return (message, done) => report(message, from + (to - from) * Math.min(1, done));
}
