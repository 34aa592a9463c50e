import { runtimeExited, timedOut } from './errors.ts';
import type { Job } from './job.ts';
import { lineSplitter } from './lines.ts';
import type { FromWorker, InvokeMessage, ToWorker } from './protocol.ts';
import { startThread } from './thread.ts';
import type { FunctionSpec, LogStream } from './types.ts';

/** Tells a job how its worker ended. */
export type Verdict = (job: Job) => void;

export interface SandboxEvents {
  /** A job is about to begin: it waits for what this answers. */
  begin(job: Job, workerId: string): Promise<void> | undefined;
  /** The module is loaded, or an event is done: the next job may come. */
  free(): void;
  /** The worker ended. The verdict is there when it did so by itself, before it could take a job. */
  gone(verdict?: Verdict): void;
  log(line: string, stream: LogStream): void;
}

/** One worker thread, Lambda's execution environment: it runs one job at a time. */
export interface Sandbox {
  readonly id: string;
  state(): 'starting' | 'idle' | 'busy' | 'gone';
  run(job: Job): void;
  /** How much its heap holds, without garbage: it stands still while that is collected. Undefined once it is gone. */
  heapBytes(): Promise<number | undefined>;
  /** Ends the worker now, whatever it does. */
  end(verdict: Verdict): void;
  /** Resolves when the thread is no more. */
  readonly exited: Promise<void>;
}

export const killed: Verdict = (job) => job.reply.failed(runtimeExited(job.id, 'signal: killed'));

let started = 0;

export function startSandbox(spec: FunctionSpec, initMs: number, events: SandboxEvents): Sandbox {
  const id = `${spec.name}-${++started}`;
  const lines = lineSplitter(events.log);
  const exited = Promise.withResolvers<void>();
  const timeoutMs = spec.timeoutSeconds * 1000;
  const timedOutVerdict: Verdict = (late) => late.reply.failed(timedOut(late.id, spec.timeoutSeconds));
  let state: ReturnType<Sandbox['state']> = 'starting';
  let job: Job | undefined;

  const thread = startThread(spec, id, (line) => events.log(line, 'stderr'));
  const post = (message: ToWorker): void => thread.postMessage(message);
  let timer = setTimeout(() => lost(timedOutVerdict), initMs + timeoutMs);

  function finish(verdict: Verdict): void {
    const unfinished = job;
    job = undefined;
    state = 'gone';
    clearTimeout(timer);
    void thread.terminate();
    if (unfinished) verdict(unfinished);
  }

  function lost(verdict: Verdict): void {
    if (state === 'gone') return;
    const early = state === 'starting';
    finish(verdict);
    events.gone(early ? verdict : undefined);
  }

  function free(): void {
    clearTimeout(timer);
    job = undefined;
    state = 'idle';
    events.free();
  }

  function receive(message: FromWorker): void {
    if (message.type === 'log') lines.add(message.stream, message.text);
    else if (state === 'gone') return;
    else if (message.type === 'ready') free();
    else if (message.type === 'heap') return;
    else if (message.type === 'fatal') lost((hit) => hit.reply.failed(message.error));
    else if (message.id === job?.id) answer(job, message);
  }

  function answer({ id, reply }: Job, message: Extract<FromWorker, { id: string }>): void {
    switch (message.type) {
      case 'chunk': {
        const bytes = message.bytes.length;
        reply.chunk(message.bytes, () => post({ type: 'ack', id, bytes }));
        return;
      }
      case 'end':
        reply.end();
        return;
      case 'result':
        reply.result(message.payload);
        break;
      case 'failed':
        reply.failed(message.error);
        break;
      case 'done':
        break;
    }
    free();
  }

  thread.on('message', receive);
  thread.on('error', (error) => lost((hit) => hit.reply.failed(threadError(hit.id, error))));
  thread.on('exit', (code) => {
    lines.flush();
    lost((hit) => hit.reply.failed(runtimeExited(hit.id, code === 0 ? undefined : `exit status ${code}`)));
    exited.resolve();
  });

  function begin(next: Job): void {
    if (job !== next) return;
    timer = setTimeout(() => lost(timedOutVerdict), timeoutMs);
    post(invocation(spec, next, Date.now() + timeoutMs));
  }

  return {
    id,
    exited: exited.promise,
    state: () => state,
    run(next) {
      job = next;
      state = 'busy';
      next.onWorker?.(id);
      const held = events.begin(next, id);
      if (held) void held.then(() => begin(next));
      else begin(next);
    },
    heapBytes() {
      const answer = Promise.withResolvers<number | undefined>();
      thread.on('message', function hear(message: FromWorker) {
        if (message.type !== 'heap') return;
        thread.off('message', hear);
        answer.resolve(message.bytes);
      });
      post({ type: 'weigh' });
      return Promise.race([answer.promise, exited.promise.then(() => undefined)]);
    },
    end(verdict) {
      if (state === 'gone') return;
      finish(verdict);
      events.gone();
    },
  };
}

function invocation(spec: FunctionSpec, { id, payload, mode }: Job, deadline: number): InvokeMessage {
  return { type: 'invoke', id, payload, mode, deadline, functionArn: spec.arn };
}

/** What the runtime could not report itself: above all, running out of memory. */
function threadError(requestId: string, error: unknown): ReturnType<typeof runtimeExited> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return runtimeExited(requestId, code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'signal: killed' : `exit status 1: ${error}`);
}
