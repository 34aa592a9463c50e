/** Processor time of this process for some work, in milliseconds. A busy neighbour does not add to it. */
function cost(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const FACTOR = 16;

/**
 * Whether the cost of some work grows with its size and not with the square of it: sixteen times the size then costs
 * about 16 times as much, not 256 times.
 *
 * @param work called with `size` and with sixteen times `size`, 3 times each; the quickest counts
 * @param size large enough to take some milliseconds
 */
export function growsLinearly(work: (size: number) => void, size: number): boolean {
  work(size);
  const least = (n: number) => Math.min(...[1, 2, 3].map(() => cost(() => work(n))));
  // A garbage collection may add a millisecond to either.
  return least(FACTOR * size) < 4 * FACTOR * Math.max(least(size), 1);
}
