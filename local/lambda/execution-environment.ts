import { runtimeExited, timedOut } from './errors.ts';
import type { Job } from './job.ts';
import { type LineSplitter, lineSplitter } from './line-splitter.ts';
import { type FromWorker, type InvokeMessage, streamWindow, type ToWorker } from './protocol.ts';
import { isProcess, startProcess } from './runtime/runtime-process.ts';
import type { FunctionSpec, LogStream } from './types.ts';
import { startThread } from './workers/thread.ts';

/** Reports to a job how its worker ended. */
export type EndJob = (job: Job) => void;

export interface ExecutionEnvironmentEvents {
  /** A job is about to start: it waits for the returned promise. */
  begin(job: Job, workerId: string): Promise<void> | undefined;
  /** The module is loaded, or an event is done. */
  free(): void;
  /** The worker has answered `ping`. */
  hasTime(): void;
  /** The worker ended. `verdict` is set if it ended by itself, before it could take a job. */
  gone(verdict?: EndJob): void;
  /** @param requestId of the event that wrote the line; undefined outside of events */
  log(line: string, stream: LogStream, requestId?: string): void;
}

export type ExecutionEnvironment = ReturnType<typeof startExecutionEnvironment>;

export const killed: EndJob = (job) => job.reply.failed(runtimeExited(job.id, 'signal: killed'));

interface Running {
  readonly job: Job;
  readonly lines: LineSplitter;
  /** Bytes of its stream that the consumer took, and its worker does not know of. */
  taken: number;
  timer?: NodeJS.Timeout;
}

let started = 0;

/** One worker thread, Lambda's execution environment. Its pool decides how many jobs it runs at once. */
export function startExecutionEnvironment(spec: FunctionSpec, initMs: number, events: ExecutionEnvironmentEvents) {
  const id = `${spec.name}-${++started}`;
  const ownLines = lineSplitter(events.log);
  const exited = Promise.withResolvers<void>();
  const timeoutMs = spec.timeoutSeconds * 1000;
  const timedOutVerdict: EndJob = (late) => late.reply.failed(timedOut(late.id, spec.timeoutSeconds));
  let stage: 'starting' | 'ready' | 'retired' | 'gone' = 'starting';
  const running = new Map<string, Running>();
  let isAsked = false;

  const thread = isProcess(spec.runtime)
    ? startProcess(spec, id)
    : startThread(spec, id, (line) => events.log(line, 'stderr'));
  const post = (message: ToWorker): void => thread.postMessage(message);
  const startTimer = setTimeout(() => lost(timedOutVerdict), initMs + timeoutMs);

  function finish(verdict: EndJob): void {
    const unfinished = [...running.values()];
    for (const entry of unfinished) forget(entry);
    stage = 'gone';
    clearTimeout(startTimer);
    void thread.terminate();
    for (const { job } of unfinished) verdict(job);
  }

  function lost(verdict: EndJob): void {
    if (stage === 'gone') return;
    const early = stage === 'starting';
    finish(verdict);
    events.gone(early ? verdict : undefined);
  }

  function forget({ job, lines, timer }: Running): void {
    clearTimeout(timer);
    running.delete(job.id);
    lines.flush();
  }

  function done(entry: Running): void {
    forget(entry);
    if (stage === 'retired' && running.size === 0) lost(killed);
    else events.free();
  }

  /** Ends the worker, as AWS does. Other events of the worker end first: on AWS each has its own worker. */
  function timeOut(entry: Running): void {
    if (running.size === 1) lost(timedOutVerdict);
    else {
      stage = 'retired';
      done(entry);
      timedOutVerdict(entry.job);
    }
  }

  function receive(message: FromWorker): void {
    if (message.type === 'batch') for (const one of message.messages) receive(one);
    else if (message.type === 'log') {
      const { lines } = running.get(message.id ?? '') ?? { lines: ownLines };
      lines.add(message.stream, message.text);
    } else if (stage === 'gone' || message.type === 'heap') return;
    else if (message.type === 'ready') ready();
    else if (message.type === 'pong') {
      isAsked = false;
      events.hasTime();
    } else if (message.type === 'fatal') lost((hit) => hit.reply.failed(message.error));
    else answer(running.get(message.id), message);
  }

  function ready(): void {
    clearTimeout(startTimer);
    stage = 'ready';
    events.free();
  }

  /** Sends credit back to the worker, rarely: an answer that is shorter than the window needs none. */
  function acknowledge(entry: Running, bytes: number): void {
    entry.taken += bytes;
    if (entry.taken < streamWindow / 2) return;
    post({ type: 'ack', id: entry.job.id, bytes: entry.taken });
    entry.taken = 0;
  }

  function answer(entry: Running | undefined, message: Extract<FromWorker, { type: Answering }>): void {
    if (entry === undefined) return;
    const { reply } = entry.job;
    switch (message.type) {
      case 'chunk': {
        const bytes = message.bytes.length;
        reply.chunk(message.bytes, () => acknowledge(entry, bytes));
        return;
      }
      case 'end':
        reply.end();
        return;
      case 'result':
        reply.result(message.payload);
        break;
      case 'failed':
        reply.failed(message.error, message.facts);
        break;
      case 'done':
        break;
    }
    done(entry);
  }

  thread.on('message', receive);
  thread.on('error', (error) => lost((hit) => hit.reply.failed(threadError(hit.id, error))));
  thread.on('exit', (code) => {
    ownLines.flush();
    lost((hit) => hit.reply.failed(runtimeExited(hit.id, code === 0 ? undefined : `exit status ${code}`)));
    exited.resolve();
  });

  function begin(entry: Running): void {
    if (running.get(entry.job.id) !== entry) return;
    entry.timer = setTimeout(() => timeOut(entry), timeoutMs);
    post(invocation(spec, entry.job, Date.now() + timeoutMs));
  }

  return {
    id,
    exited: exited.promise,
    /** `retired`: an event timed out, or its code is old. It takes no more, and ends once the others are done. */
    state(): 'starting' | 'idle' | 'busy' | 'retired' | 'gone' {
      if (stage !== 'ready') return stage;
      return running.size === 0 ? 'idle' : 'busy';
    },
    running: () => running.size,
    /** Asks a worker that runs jobs whether it has time for one more: it answers once none of them computes. */
    ping(): void {
      if (!isAsked) post({ type: 'ping' });
      isAsked = true;
    },
    run(job: Job): void {
      const lines = lineSplitter((line, stream) => events.log(line, stream, job.id));
      const entry: Running = { job, lines, taken: 0 };
      running.set(job.id, entry);
      const held = [job.onWorker?.(id), events.begin(job, id)].filter((one) => one instanceof Promise);
      if (held.length > 0) void Promise.all(held).then(() => begin(entry));
      else begin(entry);
    },
    /** The size of its heap after a garbage collection, which pauses it. Undefined once it is gone. */
    heapBytes(): Promise<number | undefined> {
      const answer = Promise.withResolvers<number | undefined>();
      thread.on('message', function hear(message: FromWorker) {
        if (message.type !== 'heap') return;
        thread.off('message', hear);
        answer.resolve(message.bytes);
      });
      post({ type: 'weigh' });
      return Promise.race([answer.promise, exited.promise.then(() => undefined)]);
    },
    /** Takes no more jobs, and ends once those that it runs are done. */
    retire() {
      if (running.size === 0) return this.end(killed);
      clearTimeout(startTimer);
      stage = 'retired';
    },
    /** Ends the worker now, even if it is busy. */
    end(verdict: EndJob): void {
      if (stage === 'gone') return;
      finish(verdict);
      events.gone();
    },
  };
}

type Answering = 'chunk' | 'end' | 'result' | 'failed' | 'done';

function invocation(spec: FunctionSpec, { id, payload, mode }: Job, deadline: number): InvokeMessage {
  return { type: 'invoke', id, payload, mode, deadline, functionArn: spec.arn };
}

/** Failures that the runtime could not report itself, mostly out of memory. */
function threadError(requestId: string, error: unknown): ReturnType<typeof runtimeExited> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return runtimeExited(requestId, code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'signal: killed' : `exit status 1: ${error}`);
}
