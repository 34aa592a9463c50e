import { availableParallelism } from 'node:os';
import { stopped } from './errors.ts';
import type { Job } from './job.ts';
import type { Memory } from './memory.ts';
import { killed, type Sandbox, startSandbox, type Verdict } from './sandbox.ts';
import type { FunctionSpec, LambdaOptions, LogStream, WorkerHeap } from './types.ts';
import { createWaitingLine } from './waiting-line.ts';

export interface PoolOptions {
  maxWorkers: number;
  idleMs: number;
  initMs: number;
  /** Shared with the pools of all other functions. */
  memory: Memory;
  log: (line: string, stream: LogStream) => void;
  /** As of `LambdaOptions`. */
  onRun: NonNullable<LambdaOptions['onRun']>;
}

/** The workers of one function, and the jobs that wait for one. */
export interface Pool {
  /** @param patienceMs how long the job may wait when no more workers may be started; undefined waits on */
  submit(job: Job, patienceMs?: number): void;
  /** Takes back a job that has not started. */
  withdraw(job: Job): void;
  /** @returns its workers, those of them at work, and the jobs that wait for one */
  load(): { count: number; busy: number; waiting: number };
  heaps(): Promise<readonly WorkerHeap[]>;
  kill(): void;
  /** Undefined when there is no such worker; else resolves when it is gone. */
  killWorker(workerId: string): Promise<void> | undefined;
  stop(): Promise<void>;
}

const refuse: Verdict = (job) => job.reply.refused(stopped());

export function createPool(spec: FunctionSpec, options: PoolOptions): Pool {
  const sandboxes = new Set<Sandbox>();
  const exits = new Set<Promise<void>>();
  /** The last to become idle is the first to work again: surplus ones stay at the bottom until their time is up. */
  let idle: { sandbox: Sandbox; timer: NodeJS.Timeout }[] = [];
  let open = true;

  const count = (state: ReturnType<Sandbox['state']>): number =>
    [...sandboxes].filter((sandbox) => sandbox.state() === state).length;
  const { memory } = options;
  const line = createWaitingLine(() => {
    const more = Math.min(options.maxWorkers - sandboxes.size, memory.room(spec.memoryMb));
    return count('starting') + Math.max(0, more);
  });

  /**
   * Gives waiting jobs to idle workers, and starts workers for the rest, up to the bound. No more start at once than
   * there are cores: beyond that each only slows the others, and a short job is soon done by those that run.
   */
  function pump(): void {
    while (line.size() > 0 && idle.length > 0) {
      const rested = idle.pop();
      const job = line.next();
      if (!rested || !job) break;
      clearTimeout(rested.timer);
      rested.sandbox.run(job);
    }
    const starting = count('starting');
    const room = Math.min(options.maxWorkers - sandboxes.size, availableParallelism() - starting);
    const missing = Math.min(line.size() - starting, room);
    for (let started = 0; started < missing && memory.take(spec.memoryMb, sandboxes.size === 0); started++) start();
  }

  function start(): void {
    const sandbox = startSandbox(spec, options.initMs, {
      log: options.log,
      begin: ({ payload }, workerId) => options.onRun({ functionName: spec.name, workerId, payload }),
      free() {
        const timer = setTimeout(() => sandbox.end(refuse), options.idleMs);
        idle.push({ sandbox, timer });
        pump();
      },
      gone(verdict) {
        forget(sandbox);
        const job = verdict && line.next();
        if (job) verdict(job);
        if (open) pump();
      },
    });
    sandboxes.add(sandbox);
    exits.add(sandbox.exited);
    void sandbox.exited.then(() => exits.delete(sandbox.exited));
  }

  function forget(sandbox: Sandbox): void {
    if (sandboxes.delete(sandbox)) memory.give(spec.memoryMb);
    for (const rested of idle) if (rested.sandbox === sandbox) clearTimeout(rested.timer);
    idle = idle.filter((rested) => rested.sandbox !== sandbox);
  }

  function endAll(verdict: Verdict): void {
    for (const sandbox of [...sandboxes]) sandbox.end(verdict);
  }

  memory.join({
    endIdle() {
      const [longest] = idle;
      longest?.sandbox.end(refuse);
      return longest !== undefined;
    },
    pump: () => open && pump(),
  });

  return {
    submit(job, patienceMs) {
      if (!open) return refuse(job);
      line.add(job, patienceMs);
      pump();
    },
    withdraw: line.remove,
    load: () => ({ count: sandboxes.size, busy: count('busy'), waiting: line.size() }),
    async heaps() {
      const heapOf = async ({ id, heapBytes }: Sandbox) => {
        const bytes = await heapBytes();
        return bytes === undefined ? [] : [{ functionName: spec.name, workerId: id, bytes }];
      };
      return (await Promise.all([...sandboxes].map(heapOf))).flat();
    },
    kill: () => endAll(killed),
    killWorker(workerId) {
      const sandbox = [...sandboxes].find(({ id }) => id === workerId);
      sandbox?.end(killed);
      return sandbox?.exited;
    },
    async stop() {
      open = false;
      for (let job = line.next(); job; job = line.next()) refuse(job);
      endAll(refuse);
      await Promise.all(exits);
    },
  };
}
