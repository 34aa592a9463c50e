import { type Plan, pick, type Random } from './plan.ts';
import type { Time } from './time.ts';

/** The calls of one process to another: they take time, fail, and their callers die before them or before their answers. */
export function createCalls(plan: Pick<Plan, 'deaths' | 'failures'>, time: Time, random: Random) {
  const counts = { deaths: 0, failures: 0 };
  const failure = () => {
    counts.failures += 1;
    return Object.assign(new Error('failed'), { name: 'ThrottlingException' });
  };
  const dies = async () => {
    await time.sleep(1 + Math.floor(random.number() * 40));
    if (random.number() >= plan.deaths) return;
    counts.deaths += 1;
    await new Promise<never>(() => {});
  };
  async function call<T>(effect: () => T | Promise<T>, fails = true): Promise<T> {
    await dies();
    const failed = fails && random.number() < plan.failures;
    // A call whose answer is lost may have been carried out.
    const lost = failed && random.number() < 0.5;
    if (failed && !lost) throw failure();
    const result = await effect();
    if (lost) throw failure();
    await dies();
    return result;
  }
  return {
    counts,
    call,
    /** The same port: each method counts as a call. */
    all: <Port extends object>(port: Port): Port =>
      Object.fromEntries(
        Object.entries(port).map(([name, method]) => [
          name,
          (...given: unknown[]) => call(() => (method as (...all: unknown[]) => unknown)(...given)),
        ]),
      ) as Port,
    /** Begins again after one of these times, if the work failed, or its process died. */
    async untilDone(work: () => Promise<unknown>, waits: readonly number[]): Promise<void> {
      for (;;) {
        const done = work().then(
          () => true,
          () => false,
        );
        const over = time.sleep(pick(random, waits)).then(() => false);
        if (await Promise.race([done, over])) return;
      }
    },
  };
}

export type Calls = ReturnType<typeof createCalls>;
