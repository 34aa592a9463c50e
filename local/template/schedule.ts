import { after } from '../time/timeout.ts';

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** The milliseconds of `rate(1 minute)` or `rate(2 hours)`; undefined for anything else, `cron(…)` included. */
export function rateMs(expression: string): number | undefined {
  const [, digits = '', unit = '', plural] = /^rate\(([1-9]\d*) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  const count = Number(digits);
  // EventBridge wants the plural for all counts but one.
  if (count === 0 || (plural === 's') === (count === 1)) return undefined;
  return count * (UNIT_MS[unit] ?? 0);
}

/** Calls every `ms` from now on, without drift, and keeps no process alive for it. The answer ends it. */
export function every(ms: number, callback: () => void): () => void {
  const start = performance.now();
  let turn = 0;
  let cancel = () => {};
  const next = (): void => {
    const elapsed = performance.now() - start;
    // The next by number, as a timer may be a little early; or the next there still is.
    turn = Math.max(turn, Math.floor(elapsed / ms)) + 1;
    cancel = after(turn * ms - elapsed, () => {
      next();
      callback();
    });
  };
  next();
  return () => cancel();
}
