import { createEventQueue, type EventQueue } from './event-queue.ts';
import { heldChunks } from './held-chunks.ts';
import { handleHttp } from './http.ts';
import { type Job, newJob, wholeReply } from './job.ts';
import { checkPayload } from './limits.ts';
import { createRegistry } from './registry.ts';
import { streamReply } from './streaming.ts';
import type {
  FunctionSpec,
  InvokeOptions,
  InvokeResult,
  Lambda,
  LambdaOptions,
  StreamOptions,
  StreamResult,
} from './types.ts';
import { CONCURRENT_EXECUTIONS, concurrencyOf } from './workers/concurrency.ts';
import { createMemory, type Memory, machineMemoryMb } from './workers/memory.ts';
import { Pool } from './workers/pool.ts';

export { FunctionError, NOT_RUN_LOCALLY } from './errors.ts';
export type * from './types.ts';

/** AWS starts a worker for each event within the concurrency limits. Here workers are few, so an event may wait. */
const MAX_WAIT_MS = 30_000;
/** After this wait an event may share a worker whose events wait. Short events end sooner than that. */
const SHARE_AFTER_MS = 500;

interface Entry {
  spec: FunctionSpec;
  pool: Pool;
  log: (line: string) => void;
}

/**
 * Runs function assets as Lambda does: each event in a worker thread of its function, one at a time per worker while
 * there are enough workers.
 *
 * @example
 * const lambda = createLambda([{ name: 'hello', arn, codePath, handler: 'index.handler', timeoutSeconds: 3, memoryMb: 128, environment: {} }]);
 * const { payload, functionError } = await lambda.invoke('hello', '{"name":"Ada"}');
 */
export function createLambda(functions: readonly FunctionSpec[], options: LambdaOptions = {}): Lambda {
  const { timeScale = 1, now = Date.now, onGivenUp = () => undefined, concurrency = CONCURRENT_EXECUTIONS } = options;
  const memory = createMemory(options.maxMemoryMb ?? machineMemoryMb());
  const entries = functions.map((spec) => createEntry(spec, options, memory));
  const find = createRegistry(entries.map((entry) => ({ spec: entry.spec, value: entry })));
  const maxWait = MAX_WAIT_MS / timeScale;
  const refusalOf = concurrencyOf(entries, concurrency);
  const queues = new Map(entries.map((entry) => [entry, createQueue(entry)]));

  function submit(entry: Entry, job: Job, maxWaitMs: number): void {
    const refusal = refusalOf(entry);
    if (refusal) job.reply.refused(refusal);
    else entry.pool.submit(job, maxWaitMs);
  }

  function createQueue(entry: Entry): EventQueue {
    const { spec, log } = entry;
    return createEventQueue({ spec, submit: submit.bind(undefined, entry), timeScale, now, log, onGivenUp });
  }

  async function invoke(nameOrArn: string, payload: string, invokeOptions: InvokeOptions = {}): Promise<InvokeResult> {
    const { signal, event = false, onWorker } = invokeOptions;
    const entry = find(nameOrArn);
    checkPayload(payload, event);
    if (event) {
      queues.get(entry)?.add(payload, invokeOptions);
      return { statusCode: 202, payload: '', executedVersion: '$LATEST' };
    }
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<InvokeResult>();
    const job = newJob(payload, 'buffered', wholeReply({ resolve, reject }), { log: entry.log, onWorker });
    const leave = (): void => {
      entry.pool.withdraw(job);
      reject(signal?.reason);
    };
    submit(entry, job, maxWait);
    signal?.addEventListener('abort', leave);
    return promise.finally(() => signal?.removeEventListener('abort', leave));
  }

  async function invokeStreaming(nameOrArn: string, payload: string, { onWorker, holdsChunks }: StreamOptions = {}) {
    const entry = find(nameOrArn);
    checkPayload(payload, false);
    return new Promise<StreamResult>((resolve, reject) => {
      const whole = streamReply({ resolve, reject });
      const reply = holdsChunks ? heldChunks(whole) : whole;
      submit(entry, newJob(payload, 'streaming', reply, { log: entry.log, onWorker }), maxWait);
    });
  }

  return {
    invoke,
    invokeStreaming,
    handleHttp: (request) => handleHttp({ invoke }, request),
    workers: () =>
      entries.map(({ spec, pool }) => {
        const { count, busy } = pool.load();
        return { functionName: spec.name, count, busy };
      }),
    heaps: async () => (await Promise.all(entries.map(({ pool }) => pool.heaps()))).flat(),
    update: (functionName, deployed) => find(functionName).pool.update(deployed),
    kill: (functionName) => find(functionName).pool.kill(),
    async killWorker(workerId) {
      const [gone] = entries.flatMap(({ pool }) => pool.killWorker(workerId) ?? []);
      await gone;
      return gone !== undefined;
    },
    async stop() {
      for (const events of queues.values()) events.stop();
      await Promise.all(entries.map(({ pool }) => pool.stop()));
    },
  };
}

function createEntry(spec: FunctionSpec, options: LambdaOptions, memory: Memory): Entry {
  const { maxWorkersPerFunction = 16, idleMs = 60_000, initMs = 10_000, sharedWorkers = true } = options;
  const { onLog = () => undefined, onRun = () => undefined, timeScale = 1 } = options;
  const { reservedConcurrency = maxWorkersPerFunction } = spec;
  const pool = new Pool(spec, {
    maxWorkers: Math.min(maxWorkersPerFunction, reservedConcurrency),
    idleMs,
    initMs,
    memory,
    sharedWorkers,
    shareAfterMs: SHARE_AFTER_MS / timeScale,
    log: (line, stream, requestId) => onLog(spec.name, line, stream, requestId),
    onRun,
  });
  const log = (line: string): void => onLog(spec.name, line, 'stderr');
  return { spec, pool, log };
}
