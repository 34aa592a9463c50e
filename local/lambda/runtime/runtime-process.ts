import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { endGroup } from '../../process-group.ts';
import { workerEnvironment } from '../environment-variables.ts';
import type { FromWorker, ToWorker } from '../protocol.ts';
import type { FunctionSpec } from '../types.ts';
import type { Thread } from '../workers/thread.ts';
import { openRuntimeApi, type RuntimeApi } from './runtime-api.ts';

/** The command of a runtime, by the beginning of its name. It gets the environment of Lambda. */
const COMMANDS: Readonly<Record<string, (spec: FunctionSpec) => readonly [string, ...string[]]>> = {
  python3: () => ['python3', '-u', join(import.meta.dirname, 'bootstrap.py')],
  // The function brings its runtime with it.
  provided: ({ codePath }) => [join(codePath, 'bootstrap')],
};

const INHERITED = ['PATH', 'HOME', 'LANG', 'PYTHONPATH', 'VIRTUAL_ENV', 'SYSTEMROOT'];

const commandOf = (runtime: string) => Object.entries(COMMANDS).find(([name]) => runtime.startsWith(name))?.[1];

/** Whether a runtime is not Node.js, and uses the Lambda runtime API. */
export const isProcess = (runtime = 'nodejs'): boolean => !runtime.startsWith('nodejs');

/** Starts a process for a function, behind the interface of a Node function's thread. */
export function startProcess(spec: FunctionSpec, workerId: string): Thread {
  const events = new EventEmitter();
  const post = (message: FromWorker) => void events.emit('message', message);
  let child: ChildProcess | undefined;
  let api: RuntimeApi | undefined;
  let current: string | undefined;
  let ended = false;

  const end = (code: number | null) => {
    if (ended) return;
    ended = true;
    void api?.close();
    events.emit('exit', code ?? 1);
  };
  const notHere = (errorMessage: string): undefined => {
    post({ type: 'fatal', error: { errorType: 'Runtime.InvalidEntrypoint', errorMessage, trace: [] } });
    end(1);
  };
  const begin = async () => {
    api = await openRuntimeApi((message) => {
      post(message);
      if (message.type === 'result' || message.type === 'failed') current = undefined;
    });
    if (ended) return api.close();
    const [command, ...args] = commandOf(spec.runtime ?? '')?.(spec) ?? [];
    if (command === undefined)
      return notHere(`${spec.runtime} does not run here, only Node, Python and provided.al20… do`);
    const inherited = Object.fromEntries(
      INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
    );
    const env = { ...inherited, ...workerEnvironment(spec, workerId), AWS_LAMBDA_RUNTIME_API: api.host };
    child = spawn(command, args, { cwd: spec.codePath, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream]?.setEncoding('utf8').on('data', (text: string) => post({ type: 'log', id: current, stream, text }));
    }
    child.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      notHere(code === 'ENOENT' ? `${command} is not on this machine: install it to run ${spec.runtime}` : message);
    });
    child.once('exit', end);
    return undefined;
  };
  begin().catch((error: unknown) => events.emit('error', error));

  return Object.assign(events, {
    postMessage(message: ToWorker) {
      if (message.type === 'weigh') post({ type: 'heap', bytes: 0 });
      if (message.type !== 'invoke') return;
      if (message.mode === 'streaming') {
        const errorMessage = `${spec.runtime} does not stream: the endpoint of the server is a Node function`;
        post({
          type: 'failed',
          id: message.id,
          error: { errorType: 'Runtime.InvalidStreamingOperation', errorMessage },
        });
        return;
      }
      current = message.id;
      api?.invoke(message);
    },
    async terminate() {
      if (child?.pid === undefined) end(1);
      else if (child.exitCode === null && child.signalCode === null) endGroup(child);
    },
  });
}
