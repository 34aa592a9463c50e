import { availableParallelism } from 'node:os';
import { stopped } from '../errors.ts';
import { type EndJob, killed, type Sandbox, startSandbox } from '../execution-environment.ts';
import type { Job } from '../job.ts';
import type { Deployed, FunctionSpec, LambdaOptions, LogStream, WorkerHeap } from '../types.ts';
import type { Memory } from './memory.ts';
import { createWaitingLine } from './waiting-line.ts';

export interface PoolOptions {
  maxWorkers: number;
  idleMs: number;
  initMs: number;
  /** Shared with the pools of all other functions. */
  memory: Memory;
  /** Whether its workers run many events at once. */
  shared: boolean;
  log: (line: string, stream: LogStream, requestId?: string) => void;
  /** As in `LambdaOptions`. */
  onRun: NonNullable<LambdaOptions['onRun']>;
}

/** The workers of one function, and the jobs that wait for one. */
export interface Pool {
  /** @param maxWaitMs how long the job may wait if no more workers may start; undefined waits without limit */
  submit(job: Job, maxWaitMs?: number): void;
  /** Removes a job that has not started. */
  withdraw(job: Job): void;
  /** @returns its workers, the jobs they run, and the jobs that wait for a worker */
  load(): { count: number; busy: number; waiting: number };
  heaps(): Promise<readonly WorkerHeap[]>;
  /** As `Lambda.update`. */
  update(deployed: Deployed): void;
  kill(): void;
  /** Resolves when the worker is gone; undefined if it does not exist. */
  killWorker(workerId: string): Promise<void> | undefined;
  stop(): Promise<void>;
}

/**
 * Events per shared worker before another one starts, up to the bound; then all take more. The default of Lambda
 * Managed Instances for a Node.js environment, per vCPU.
 */
const SHARED_EVENTS = 64;

const refuse: EndJob = (job) => job.reply.refused(stopped());

export function createPool(first: FunctionSpec, options: PoolOptions): Pool {
  let spec = first;
  const sandboxes = new Set<Sandbox>();
  const exits = new Set<Promise<void>>();
  /** A stack: the last worker to become idle works first, so that surplus workers stay idle and end. */
  let idle: { sandbox: Sandbox; timer: NodeJS.Timeout }[] = [];
  let open = true;

  const { shared, maxWorkers, memory } = options;
  const eventsEach = shared ? SHARED_EVENTS : 1;

  const inState = (...states: ReturnType<Sandbox['state']>[]): Sandbox[] =>
    [...sandboxes].filter((sandbox) => states.includes(sandbox.state()));
  /** The workers that take jobs now or after their start. */
  const serving = () => inState('starting', 'idle', 'busy');
  const line = createWaitingLine(() => {
    const more = Math.min(maxWorkers - serving().length, memory.room(spec.memoryMb));
    const expected = inState('starting').length + Math.max(0, more);
    return shared ? expected * Number.MAX_SAFE_INTEGER : expected;
  });

  /**
   * Gives waiting jobs to workers that take them, and starts workers for the rest, up to the bound. At most as many
   * start at once as there are cores: more would slow each other, and running workers finish short jobs sooner.
   */
  function pump(): void {
    while (line.size() > 0) {
      const sandbox = workerForNextJob();
      const job = sandbox && line.next();
      if (!sandbox || !job) break;
      wake(sandbox);
      sandbox.run(job);
    }
    const workers = serving();
    const room = Math.min(maxWorkers - workers.length, availableParallelism() - inState('starting').length);
    const missing = Math.min(Math.ceil((runningIn(workers) + line.size()) / eventsEach) - workers.length, room);
    for (let n = 0; n < missing && memory.take(spec.memoryMb, workers.length + n === 0); n++) start();
  }

  /** An idle worker; if workers are shared and none is idle, the one with the fewest jobs. */
  function workerForNextJob(): Sandbox | undefined {
    const rested = idle.at(-1)?.sandbox;
    if (rested || !shared) return rested;
    const [first, ...others] = inState('busy');
    return others.reduce((least, other) => (least && other.running() < least.running() ? other : least), first);
  }

  function start(): void {
    const sandbox = startSandbox(spec, options.initMs, {
      log: options.log,
      begin: ({ payload }, workerId) => options.onRun({ functionName: spec.name, workerId, payload }),
      free() {
        if (sandbox.state() === 'idle') rest(sandbox);
        pump();
      },
      gone(verdict) {
        forget(sandbox);
        if (verdict) failWaiting(verdict);
        if (open) pump();
      },
    });
    sandboxes.add(sandbox);
    exits.add(sandbox.exited);
    void sandbox.exited.then(() => exits.delete(sandbox.exited));
  }

  /** The jobs that the worker would have taken. */
  function failWaiting(verdict: EndJob): void {
    for (const job of Array.from({ length: Math.min(eventsEach, line.size()) }, line.next)) if (job) verdict(job);
  }

  function rest(sandbox: Sandbox): void {
    idle.push({ sandbox, timer: setTimeout(() => sandbox.end(refuse), options.idleMs) });
  }

  function forget(sandbox: Sandbox): void {
    if (sandboxes.delete(sandbox)) memory.give(spec.memoryMb);
    wake(sandbox);
  }

  function wake(sandbox: Sandbox): void {
    for (const rested of idle) if (rested.sandbox === sandbox) clearTimeout(rested.timer);
    idle = idle.filter((rested) => rested.sandbox !== sandbox);
  }

  function endAll(verdict: EndJob): void {
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
    submit(job, maxWaitMs) {
      if (!open) return refuse(job);
      line.add(job, maxWaitMs);
      pump();
    },
    withdraw: line.remove,
    load: () => ({ count: sandboxes.size, busy: runningIn(sandboxes), waiting: line.size() }),
    async heaps() {
      const heapOf = async ({ id, heapBytes }: Sandbox) => {
        const bytes = await heapBytes();
        return bytes === undefined ? [] : [{ functionName: spec.name, workerId: id, bytes }];
      };
      return (await Promise.all([...sandboxes].map(heapOf))).flat();
    },
    update(deployed) {
      spec = { ...spec, ...deployed };
      for (const sandbox of [...sandboxes]) {
        wake(sandbox);
        sandbox.retire();
      }
      pump();
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

const runningIn = (sandboxes: Iterable<Sandbox>): number =>
  [...sandboxes].reduce((sum, sandbox) => sum + sandbox.running(), 0);
