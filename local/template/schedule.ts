import { startTimeout } from '../time/timeout.ts';

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** The milliseconds of `rate(1 minute)` or `rate(2 hours)`; undefined for anything else, `cron(…)` included. */
export function rateMs(expression: string): number | undefined {
  const [, digits = '', unit = '', plural] = /^rate\(([1-9]\d*) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  const count = Number(digits);
  // EventBridge requires the plural for all counts but 1.
  if (count === 0 || (plural === 's') === (count === 1)) return undefined;
  return count * (UNIT_MS[unit] ?? 0);
}

/** Calls every `ms` milliseconds without drift. Does not keep the process alive. Returns a function that ends it. */
export function every(ms: number, callback: () => void): () => void {
  const start = performance.now();
  let turn = 0;
  let cancel = () => {};
  const next = (): void => {
    const elapsed = performance.now() - start;
    // A timer may fire early, so the next run follows from its number; missed runs are skipped.
    turn = Math.max(turn, Math.floor(elapsed / ms)) + 1;
    cancel = startTimeout(turn * ms - elapsed, () => {
      next();
      callback();
    });
  };
  next();
  return () => cancel();
}
