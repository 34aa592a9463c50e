import { metricLines } from '../tasks/log.ts';
import type { Report } from './sweep.ts';

type Counts = Readonly<Record<string, number>>;

/**
 * Lines in CloudWatch's embedded metric format. `server` is the dimension that names this server. A count of 0 has no
 * metric, so an idle server pays for its heartbeat only. `oldest`: when the oldest unfinished task was created.
 */
export function reportLines(report: Report, oldest: number | undefined, server: string, now: number): string[] {
  const { complete, due, left, repaired, errors } = report;
  const counts = {
    ...(complete && { Sweep: 1 }),
    ...(oldest !== undefined && { TimeOldestOpen: Math.max(0, now - oldest) }),
    ...nonZero({ Due: due, Left: left, Overdue: repaired.overdue ?? 0, Errors: sum(Object.values(errors)) }),
  };
  return [...metricLines(counts, { Server: server }, now), ...repairLines(repaired, server, now)];
}

/** How many tasks were repaired, by what was wrong with them. */
export function repairLines(repaired: Report['repaired'], server: string, now: number): string[] {
  return Object.entries(repaired).flatMap(([Kind, Repaired]) =>
    metricLines({ Repaired }, { Server: server, Kind }, now),
  );
}

const nonZero = (counts: Counts) => Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
