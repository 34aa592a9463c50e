import { readClock, type SharedClock } from '../../time/clock.ts';

/** Makes `Date` follow a shared clock that tests can move. Timers and `performance` follow the machine. */
export function followClock({ common, own }: SharedClock): void {
  const [words, skew] = [new BigInt64Array(common), new BigInt64Array(own)];
  const real = Date.now;
  const now = (): number => readClock(words, real()) + Number(Atomics.load(skew, 0));
  Date.now = now;
  const Moved = new Proxy(Date, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: (target) => new target(now()).toString(),
  });
  Date.prototype.constructor = Moved;
  globalThis.Date = Moved;
}
