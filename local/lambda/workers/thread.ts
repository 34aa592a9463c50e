import { extname } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { workerEnvironment } from '../environment-variables.ts';
import type { FromWorker, ToWorker, WorkerSettings } from '../protocol.ts';
import type { FunctionSpec } from '../types.ts';

const entry = new URL(`../worker/thread-entry${extname(import.meta.url)}`, import.meta.url);

/** A worker thread that runs the code of a function, or a process behind the same interface. */
export interface Thread {
  on(event: 'message', listener: (message: FromWorker) => void): void;
  on(event: 'error', listener: (error: unknown) => void): void;
  on(event: 'exit', listener: (code: number) => void): void;
  off(event: 'message', listener: (message: FromWorker) => void): void;
  postMessage(message: ToWorker): void;
  terminate(): Promise<unknown>;
}

export function startThread(spec: FunctionSpec, workerId: string, warn: (line: string) => void): Thread {
  const env = workerEnvironment(spec, workerId);
  try {
    return new Worker(entry, threadOptions(spec, env));
  } catch (error) {
    // A thread refuses some options that a process takes.
    const { NODE_OPTIONS, ...rest } = env;
    if (NODE_OPTIONS === undefined) throw error;
    warn(`NODE_OPTIONS is left out, a worker thread cannot take it: ${NODE_OPTIONS}`);
    return new Worker(entry, threadOptions(spec, rest));
  }
}

function threadOptions(spec: FunctionSpec, env: Record<string, string>): WorkerOptions {
  const { codePath, handler, clock } = spec;
  const workerData: WorkerSettings = { codePath, handler, ...(clock && { clock }) };
  return {
    workerData,
    env,
    execArgv: [], // the flags of this process do not apply to functions
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: spec.memoryMb },
  };
}
