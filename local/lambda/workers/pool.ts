import { availableParallelism } from 'node:os';
import { notRunLocally, stopped } from '../errors.ts';
import { type EndJob, type ExecutionEnvironment, killed, startExecutionEnvironment } from '../execution-environment.ts';
import type { Job } from '../job.ts';
import type { Deployed, FunctionSpec, LambdaOptions, LogStream, WorkerHeap } from '../types.ts';
import type { Memory } from './memory.ts';
import { createWaitingLine } from './waiting-line.ts';

export interface PoolOptions {
  readonly maxWorkers: number;
  readonly idleMs: number;
  readonly initMs: number;
  /** Shared with the pools of all other functions. */
  readonly memory: Memory;
  /** Whether a worker may run many events at once: see `WorkerOptions.sharedWorkers`. */
  readonly sharedWorkers: boolean;
  /** How long an event waits for its own worker before it shares one, in milliseconds. */
  readonly shareAfterMs: number;
  readonly log: (line: string, stream: LogStream, requestId?: string) => void;
  /** Same as in `LambdaOptions`. */
  readonly onRun: NonNullable<LambdaOptions['onRun']>;
}

/**
 * Streams per worker before another one starts, up to the bound; then all take more. The default of Lambda Managed
 * Instances for a Node.js environment, per vCPU.
 */
const STREAMS_EACH = 64;

/** Read once: to ask the system at each event would cost more than the rest of the dispatch. */
const CORES = availableParallelism();

const refuse: EndJob = (job) => job.reply.refused(stopped());

const runningIn = (environments: Iterable<ExecutionEnvironment>): number =>
  [...environments].reduce((sum, environment) => sum + environment.running(), 0);

/**
 * The workers of one function, and the jobs that wait for one. As on AWS, each job has its own worker while another
 * worker may start. A job that answers by a stream may hold a worker for minutes, so it shares from the beginning. Other
 * jobs share only workers whose runs wait: a worker that computes does not answer `ping`.
 */
export class Pool {
  #spec: FunctionSpec;
  readonly #options: PoolOptions;
  readonly #environments = new Set<ExecutionEnvironment>();
  readonly #exits = new Set<Promise<void>>();
  /** A stack: the last worker to become idle works first, so that surplus workers stay idle and end. */
  #idle: { readonly environment: ExecutionEnvironment; readonly timer: NodeJS.Timeout }[] = [];
  #open = true;
  /** Whether its jobs answer by streams. */
  #streams = false;
  #shareTimer: NodeJS.Timeout | undefined;
  readonly #line = createWaitingLine(() => {
    const more = Math.min(this.#options.maxWorkers - this.#serving().length, this.#memory.room(this.#spec.memoryMb));
    const expected = this.#inState('starting').length + Math.max(0, more);
    return this.#each() === 1 ? expected : expected * Number.MAX_SAFE_INTEGER;
  });

  constructor(spec: FunctionSpec, options: PoolOptions) {
    this.#spec = spec;
    this.#options = options;
    this.#memory.join({
      endIdle: () => {
        const [longest] = this.#idle;
        longest?.environment.end(refuse);
        return longest !== undefined;
      },
      pump: () => this.#open && this.#pump(),
    });
  }

  /** @param maxWaitMs how long the job may wait if no more workers may start; undefined waits without limit */
  submit(job: Job, maxWaitMs?: number): void {
    if (!this.#open) refuse(job);
    else if (this.#spec.refusal !== undefined) job.reply.failed(notRunLocally(this.#spec.refusal));
    else {
      this.#streams = job.mode === 'streaming';
      this.#line.add(job, maxWaitMs);
      this.#pump();
    }
  }

  withdraw(job: Job): void {
    this.#line.remove(job);
  }

  /** @returns its workers, the jobs they run, and the jobs that wait for a worker */
  load(): { count: number; busy: number; waiting: number } {
    return { count: this.#environments.size, busy: runningIn(this.#environments), waiting: this.#line.size() };
  }

  async heaps(): Promise<readonly WorkerHeap[]> {
    const heapOf = async (environment: ExecutionEnvironment) => {
      const bytes = await environment.heapBytes();
      return bytes === undefined ? [] : [{ functionName: this.#spec.name, workerId: environment.id, bytes }];
    };
    return (await Promise.all([...this.#environments].map(heapOf))).flat();
  }

  update(deployed: Deployed): void {
    this.#spec = { ...this.#spec, ...deployed };
    for (const environment of [...this.#environments]) {
      this.#wake(environment);
      environment.retire();
    }
    this.#pump();
  }

  kill(): void {
    this.#endAll(killed);
  }

  /** Resolves when the worker is gone; undefined if it does not exist. */
  killWorker(workerId: string): Promise<void> | undefined {
    const environment = [...this.#environments].find(({ id }) => id === workerId);
    environment?.end(killed);
    return environment?.exited;
  }

  async stop(): Promise<void> {
    this.#open = false;
    clearTimeout(this.#shareTimer);
    for (let job = this.#line.next(); job; job = this.#line.next()) refuse(job);
    this.#endAll(refuse);
    await Promise.all(this.#exits);
  }

  get #memory(): Memory {
    return this.#options.memory;
  }

  /** How many jobs a worker has before another one starts. */
  #each(): number {
    return this.#options.sharedWorkers && this.#streams ? STREAMS_EACH : 1;
  }

  #inState(...states: ReturnType<ExecutionEnvironment['state']>[]): ExecutionEnvironment[] {
    return [...this.#environments].filter((environment) => states.includes(environment.state()));
  }

  /** The workers that take jobs now or after their start. */
  #serving(): ExecutionEnvironment[] {
    return this.#inState('starting', 'idle', 'busy');
  }

  /**
   * Gives waiting jobs to workers that take them, and starts workers for the rest, up to the bound. At most as many
   * start at once as there are cores: more would slow each other, and running workers finish short jobs sooner.
   */
  #pump(): void {
    while (this.#line.size() > 0) {
      const environment = this.#workerForNextJob();
      if (!environment) break;
      this.#runNext(environment);
    }
    const each = this.#each();
    if (each === 1 && this.#line.size() === 0) return;
    const workers = this.#serving();
    const room = Math.min(this.#options.maxWorkers - workers.length, CORES - this.#inState('starting').length);
    const wanted = Math.ceil((runningIn(workers) + this.#line.size()) / each) - workers.length;
    const { memoryMb } = this.#spec;
    const missing = Math.min(wanted, room);
    for (let n = 0; n < missing && this.#memory.take(memoryMb, workers.length + n === 0); n++) this.#start();
    this.#share();
  }

  /** An idle worker; if streams share workers and none is idle, the one with the fewest jobs. */
  #workerForNextJob(): ExecutionEnvironment | undefined {
    const rested = this.#idle.at(-1)?.environment;
    if (rested || this.#each() === 1) return rested;
    const [first, ...others] = this.#inState('busy');
    return others.reduce((least, other) => (least && other.running() < least.running() ? other : least), first);
  }

  #runNext(environment: ExecutionEnvironment): void {
    const job = this.#line.next();
    if (!job) return;
    this.#wake(environment);
    environment.run(job);
  }

  /** Asks all workers which of them has time, if the next job may share one. */
  #share(): void {
    clearTimeout(this.#shareTimer);
    const left = this.#shareIn();
    if (left > 0 && left < Number.POSITIVE_INFINITY) this.#shareTimer = setTimeout(() => this.#share(), left);
    if (left <= 0) for (const environment of this.#inState('busy')) environment.ping();
  }

  /** Milliseconds until the next job may share a worker; 0 if jobs share workers already. */
  #shareIn(): number {
    const isNeeded = this.#line.size() > 0 && this.#inState('starting', 'idle').length === 0;
    if (!isNeeded || !this.#options.sharedWorkers) return Number.POSITIVE_INFINITY;
    const busy = this.#inState('busy');
    return runningIn(busy) > busy.length ? 0 : this.#options.shareAfterMs - this.#line.waitedMs();
  }

  #start(): void {
    const { initMs, log, onRun } = this.#options;
    const { name } = this.#spec;
    const environment = startExecutionEnvironment(this.#spec, initMs, {
      log,
      begin: ({ payload }, workerId) => onRun({ functionName: name, workerId, payload }),
      free: () => {
        if (environment.state() === 'idle') this.#rest(environment);
        this.#pump();
      },
      hasTime: () => {
        if (environment.state() === 'busy' && this.#shareIn() <= 0) this.#runNext(environment);
        this.#share();
      },
      gone: (verdict) => {
        this.#forget(environment);
        if (verdict) this.#failWaiting(verdict);
        if (this.#open) this.#pump();
      },
    });
    this.#environments.add(environment);
    this.#exits.add(environment.exited);
    void environment.exited.then(() => this.#exits.delete(environment.exited));
  }

  /** Fails the jobs that the worker would have taken. */
  #failWaiting(verdict: EndJob): void {
    for (let left = this.#each(); left > 0; left--) {
      const job = this.#line.next();
      if (!job) return;
      verdict(job);
    }
  }

  #rest(environment: ExecutionEnvironment): void {
    this.#idle.push({ environment, timer: setTimeout(() => environment.end(refuse), this.#options.idleMs) });
  }

  #forget(environment: ExecutionEnvironment): void {
    if (this.#environments.delete(environment)) this.#memory.give(this.#spec.memoryMb);
    this.#wake(environment);
  }

  #wake(environment: ExecutionEnvironment): void {
    for (const rested of this.#idle) if (rested.environment === environment) clearTimeout(rested.timer);
    this.#idle = this.#idle.filter((rested) => rested.environment !== environment);
  }

  #endAll(verdict: EndJob): void {
    for (const environment of [...this.#environments]) environment.end(verdict);
  }
}
