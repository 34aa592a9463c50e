/** Processor time of this process for some work, in milliseconds. */
function cost(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const FACTOR = 16;
/** A busy machine slows one of the two down by chance. It does not do so each time. */
const TRIES = 20;

/**
 * Whether the cost of some work grows with its size and not with the square of it: once with sixteen times the size then costs as much
 * as sixteen times with the size, not 16 times as much.
 *
 * @param work called with `size` and with sixteen times `size`
 * @param size large enough to take some milliseconds
 */
export function growsLinearly(work: (size: number) => void, size: number): boolean {
  const isLinear = () => {
    const many = cost(() => {
      for (let n = 0; n < FACTOR; n++) work(size);
    });
    // A garbage collection may add some milliseconds.
    return cost(() => work(FACTOR * size)) < 4 * Math.max(many, 5);
  };
  return Array.from({ length: TRIES }).some(isLinear);
}
