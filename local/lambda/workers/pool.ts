import { availableParallelism } from 'node:os';
import { notRunLocally, stopped } from '../errors.ts';
import { type EndJob, type ExecutionEnvironment, killed, startExecutionEnvironment } from '../execution-environment.ts';
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

/** Asking the system at each event would cost more than the rest of its dispatch. */
const CORES = availableParallelism();

const refuse: EndJob = (job) => job.reply.refused(stopped());

export function createPool(first: FunctionSpec, options: PoolOptions): Pool {
  let spec = first;
  const environments = new Set<ExecutionEnvironment>();
  const exits = new Set<Promise<void>>();
  /** A stack: the last worker to become idle works first, so that surplus workers stay idle and end. */
  let idle: { environment: ExecutionEnvironment; timer: NodeJS.Timeout }[] = [];
  let open = true;

  const { shared, maxWorkers, memory } = options;
  const eventsEach = shared ? SHARED_EVENTS : 1;

  const inState = (...states: ReturnType<ExecutionEnvironment['state']>[]): ExecutionEnvironment[] =>
    [...environments].filter((environment) => states.includes(environment.state()));
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
      const environment = workerForNextJob();
      const job = environment && line.next();
      if (!environment || !job) break;
      wake(environment);
      environment.run(job);
    }
    // Each worker of its own event: as nothing waits, there are enough.
    if (!shared && line.size() === 0) return;
    const workers = serving();
    const room = Math.min(maxWorkers - workers.length, CORES - inState('starting').length);
    const missing = Math.min(Math.ceil((runningIn(workers) + line.size()) / eventsEach) - workers.length, room);
    for (let n = 0; n < missing && memory.take(spec.memoryMb, workers.length + n === 0); n++) start();
  }

  /** An idle worker; if workers are shared and none is idle, the one with the fewest jobs. */
  function workerForNextJob(): ExecutionEnvironment | undefined {
    const rested = idle.at(-1)?.environment;
    if (rested || !shared) return rested;
    const [first, ...others] = inState('busy');
    return others.reduce((least, other) => (least && other.running() < least.running() ? other : least), first);
  }

  function start(): void {
    const environment = startExecutionEnvironment(spec, options.initMs, {
      log: options.log,
      begin: ({ payload }, workerId) => options.onRun({ functionName: spec.name, workerId, payload }),
      free() {
        if (environment.state() === 'idle') rest(environment);
        pump();
      },
      gone(verdict) {
        forget(environment);
        if (verdict) failWaiting(verdict);
        if (open) pump();
      },
    });
    environments.add(environment);
    exits.add(environment.exited);
    void environment.exited.then(() => exits.delete(environment.exited));
  }

  /** The jobs that the worker would have taken. */
  function failWaiting(verdict: EndJob): void {
    for (const job of Array.from({ length: Math.min(eventsEach, line.size()) }, line.next)) if (job) verdict(job);
  }

  function rest(environment: ExecutionEnvironment): void {
    idle.push({ environment, timer: setTimeout(() => environment.end(refuse), options.idleMs) });
  }

  function forget(environment: ExecutionEnvironment): void {
    if (environments.delete(environment)) memory.give(spec.memoryMb);
    wake(environment);
  }

  function wake(environment: ExecutionEnvironment): void {
    for (const rested of idle) if (rested.environment === environment) clearTimeout(rested.timer);
    idle = idle.filter((rested) => rested.environment !== environment);
  }

  function endAll(verdict: EndJob): void {
    for (const environment of [...environments]) environment.end(verdict);
  }

  memory.join({
    endIdle() {
      const [longest] = idle;
      longest?.environment.end(refuse);
      return longest !== undefined;
    },
    pump: () => open && pump(),
  });

  return {
    submit(job, maxWaitMs) {
      if (!open) return refuse(job);
      if (spec.refusal !== undefined) return job.reply.failed(notRunLocally(spec.refusal));
      line.add(job, maxWaitMs);
      pump();
    },
    withdraw: line.remove,
    load: () => ({ count: environments.size, busy: runningIn(environments), waiting: line.size() }),
    async heaps() {
      const heapOf = async ({ id, heapBytes }: ExecutionEnvironment) => {
        const bytes = await heapBytes();
        return bytes === undefined ? [] : [{ functionName: spec.name, workerId: id, bytes }];
      };
      return (await Promise.all([...environments].map(heapOf))).flat();
    },
    update(deployed) {
      spec = { ...spec, ...deployed };
      for (const environment of [...environments]) {
        wake(environment);
        environment.retire();
      }
      pump();
    },
    kill: () => endAll(killed),
    killWorker(workerId) {
      const environment = [...environments].find(({ id }) => id === workerId);
      environment?.end(killed);
      return environment?.exited;
    },
    async stop() {
      open = false;
      for (let job = line.next(); job; job = line.next()) refuse(job);
      endAll(refuse);
      await Promise.all(exits);
    },
  };
}

const runningIn = (environments: Iterable<ExecutionEnvironment>): number =>
  [...environments].reduce((sum, environment) => sum + environment.running(), 0);
