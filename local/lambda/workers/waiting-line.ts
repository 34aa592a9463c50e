import { throttled } from '../errors.ts';
import type { Job } from '../job.ts';

/**
 * The jobs of one function that wait for a worker, first come, first served.
 *
 * @param expected counts workers that start now or may still start: the first jobs wait for them, and are not throttled
 */
export function createWaitingLine(expected: () => number) {
  const line = new Map<Job, { readonly since: number; timer?: NodeJS.Timeout }>();

  function remove(job: Job): void {
    clearTimeout(line.get(job)?.timer);
    line.delete(job);
  }

  function wait(job: Job, ms: number): void {
    const place = line.get(job);
    if (place) place.timer = setTimeout(() => throttleOrWait(job, ms), ms);
  }

  function throttleOrWait(job: Job, maxWaitMs: number): void {
    if ([...line.keys()].indexOf(job) < expected()) wait(job, maxWaitMs);
    else {
      remove(job);
      job.reply.refused(throttled());
    }
  }

  return {
    /** @param maxWaitMs the job is throttled after this time; undefined waits without limit */
    add(job: Job, maxWaitMs: number | undefined): void {
      line.set(job, { since: performance.now() });
      if (maxWaitMs !== undefined) wait(job, maxWaitMs);
    },
    next(): Job | undefined {
      const [job] = line.keys();
      if (job) remove(job);
      return job;
    },
    remove,
    size: () => line.size,
    waitedMs(): number {
      const [first] = line.values();
      return first === undefined ? 0 : performance.now() - first.since;
    },
  };
}
