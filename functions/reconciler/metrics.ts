import type { Report } from './sweep.ts';

/** The namespace of all metrics of this project. */
export const NAMESPACE = 'McpTaskServer';

type Counts = Readonly<Record<string, number>>;

/**
 * Lines in CloudWatch's embedded metric format. `server` is the dimension that names this server. A count of 0 has no
 * metric, so an idle server pays for its heartbeat only.
 */
export function reportLines(report: Report, server: string, now: number): string[] {
  const { complete, due, left, repaired, errors } = report;
  const counts = {
    ...(complete && { Sweep: 1 }),
    ...nonZero({ Due: due, Left: left, Overdue: repaired.overdue ?? 0, Errors: sum(Object.values(errors)) }),
  };
  return [...line(counts, { Server: server }, now), ...repairLines(repaired, server, now)];
}

/** How many tasks were repaired, by what was wrong with them. */
export function repairLines(repaired: Report['repaired'], server: string, now: number): string[] {
  return Object.entries(repaired).flatMap(([Kind, Repaired]) => line({ Repaired }, { Server: server, Kind }, now));
}

function line(counts: Counts, dimensions: Readonly<Record<string, string>>, now: number): string[] {
  const names = Object.keys(counts);
  if (names.length === 0) return [];
  const metrics = {
    Namespace: NAMESPACE,
    Dimensions: [Object.keys(dimensions)],
    Metrics: names.map((Name) => ({ Name, Unit: 'Count' })),
  };
  return [JSON.stringify({ _aws: { Timestamp: now, CloudWatchMetrics: [metrics] }, ...dimensions, ...counts })];
}

const nonZero = (counts: Counts) => Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
