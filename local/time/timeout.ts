// Above this bound setTimeout fires at once; a schedule or a Wait may last a year.
const LONGEST_LAP = 2 ** 31 - 1;

/**
 * Calls back after a time. Returns a function that cancels it.
 *
 * @param ref whether it keeps the process alive
 */
export function startTimeout(milliseconds: number, callback: () => void, ref = false): () => void {
  let left = Math.max(0, milliseconds);
  let timer: NodeJS.Timeout | undefined;
  const lap = (): void => {
    const next = Math.min(left, LONGEST_LAP);
    left -= next;
    timer = setTimeout(left > 0 ? lap : callback, next);
    if (!ref) timer.unref();
  };
  lap();
  return () => clearTimeout(timer);
}

/** Makes a group of timeouts that end together. */
export function createPauses() {
  const cancels = new Set<() => void>();
  let ended = false;
  return {
    /** Resolves after the time, or never if the group ends before. */
    pause: (milliseconds: number) =>
      new Promise<void>((resolve) => {
        if (ended) return;
        const cancel = startTimeout(milliseconds, () => {
          cancels.delete(cancel);
          resolve();
        });
        cancels.add(cancel);
      }),
    end() {
      ended = true;
      for (const cancel of cancels) cancel();
      cancels.clear();
    },
  };
}
