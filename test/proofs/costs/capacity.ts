/**
 * The capacity of a table on demand (DynamoDB, "Service, account, and table quotas": 40,000 read units a second of a table by
 * default; "Designing partition keys": 3,000 of a partition). Bursts, which AWS may allow, are left out.
 */
const TABLE = 40_000;
const PARTITION = 3_000;

export interface Read {
  /** The time by the cloud's clock, in milliseconds. */
  readonly at: number;
  /** Read units by partition key. */
  readonly units: ReadonlyMap<string, number>;
}

/** The reads of a request while it is served. */
export interface Trace {
  readonly reads: readonly Read[];
  /** How long it is served, in milliseconds. */
  readonly lasts: number;
}

/** Read units that are there, and come back with time. A read that finds some left is served, as DynamoDB does it. */
function bucket(perSecond: number) {
  let [left, at] = [perSecond, 0];
  const refill = (now: number) => {
    left = Math.min(perSecond, left + ((now - at) * perSecond) / 1_000);
    at = now;
  };
  return {
    hasSome(now: number): boolean {
      refill(now);
      return left > 0;
    },
    take(units: number): void {
      left -= units;
    },
  };
}

/** How many of these reads the table throttles, by what each is named. */
export function throttled(reads: readonly (Read & { readonly name: string })[]): Map<string, number> {
  const table = bucket(TABLE);
  const partitions = new Map<string, ReturnType<typeof bucket>>();
  const bucketOf = (partition: string) => {
    const one = partitions.get(partition) ?? bucket(PARTITION);
    partitions.set(partition, one);
    return one;
  };
  const refused = new Map<string, number>();
  for (const { at, units, name } of reads.toSorted((a, b) => a.at - b.at)) {
    const parts = [...units].map(([partition, count]) => ({ one: bucketOf(partition), count }));
    if (!table.hasSome(at) || parts.some(({ one }) => !one.hasSome(at))) {
      refused.set(name, (refused.get(name) ?? 0) + 1);
      continue;
    }
    for (const { one, count } of parts) {
      one.take(count);
      table.take(count);
    }
  }
  return refused;
}

/**
 * The reads of requests at this rate for this time. Above `most` concurrent requests, one costs as much as a refusal: a
 * unit of its owner.
 */
export function repeated(
  { reads, lasts }: Trace,
  perSecond: number,
  seconds: number,
  refusedBy?: { readonly most: number; readonly owner: string },
): Read[] {
  let held: number[] = [];
  return Array.from({ length: perSecond * seconds }, (_, n) => (n * 1_000) / perSecond).flatMap((begin) => {
    held = held.filter((end) => end > begin);
    if (refusedBy !== undefined && held.length >= refusedBy.most) {
      return [{ at: begin, units: new Map([[refusedBy.owner, 1]]) }];
    }
    held.push(begin + lasts);
    return reads.map(({ at, units }) => ({ at: begin + at, units }));
  });
}
