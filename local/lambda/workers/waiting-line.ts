import { throttled } from '../errors.ts';
import type { Job } from '../job.ts';

/** The jobs of one function that wait for a worker, first come, first served. */
export interface WaitingLine {
  /** @param maxWaitMs the job is throttled after this time; undefined waits without limit */
  add(job: Job, maxWaitMs: number | undefined): void;
  next(): Job | undefined;
  remove(job: Job): void;
  size(): number;
}

/** @param expected workers that start now or may still start: the first jobs wait for them and are not throttled */
export function createWaitingLine(expected: () => number): WaitingLine {
  const line = new Map<Job, NodeJS.Timeout | undefined>();

  function remove(job: Job): void {
    clearTimeout(line.get(job));
    line.delete(job);
  }

  function throttleOrWait(job: Job, maxWaitMs: number): void {
    if ([...line.keys()].indexOf(job) < expected()) return void line.set(job, wait(job, maxWaitMs));
    remove(job);
    job.reply.refused(throttled());
  }

  const wait = (job: Job, ms: number): NodeJS.Timeout => setTimeout(() => throttleOrWait(job, ms), ms);

  return {
    add: (job, maxWaitMs) => void line.set(job, maxWaitMs === undefined ? undefined : wait(job, maxWaitMs)),
    next() {
      const [job] = line.keys();
      if (job) remove(job);
      return job;
    },
    remove,
    size: () => line.size,
  };
}
