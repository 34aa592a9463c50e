import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;

export interface FixtureServer {
  readonly url: string;
  /** The last lines it printed. */
  tail(): string;
  stop(): Promise<void>;
}

/** The fixture app on the embedded cloud, on its own port. Rejects with all it printed if it does not start. */
export async function startFixtureServer(signal: AbortSignal): Promise<FixtureServer> {
  const args = ['bin/local.ts', '--app', 'test/conformance/app.ts', '--port', String(await freePort())];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  // Nothing may outlive this process.
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const stop = async () => {
    await end(child);
    process.off('exit', killAtExit);
  };
  try {
    return { url: await readyUrl(child, signal), tail: () => lastLines(output), stop };
  } catch (error) {
    await stop();
    throw new Error(`The fixture server ${error instanceof Error ? error.message : error}. It printed:\n${output}`);
  }
}

/** Resolves with the address in the line `ready http://…`. */
function readyUrl(child: ChildProcess, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(START_LIMIT_MS);
    const giveUp = (why: string) => () => reject(new Error(why));
    limit.addEventListener('abort', giveUp(`was not ready after ${START_LIMIT_MS / 1000} s`), { once: true });
    signal.addEventListener('abort', giveUp('was interrupted'), { once: true });
    child.once('error', (error) => reject(new Error(`could not be started: ${error.message}`)));
    child.once('close', (code) => reject(new Error(`ended with ${code}`)));
    let stdout = '';
    child.stdout?.on('data', (chunk: string) => {
      stdout += chunk;
      const url = /^ready (http:\S+)\s/m.exec(stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

const lastLines = (output: string): string => output.trimEnd().split('\n').slice(-60).join('\n');

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'exit');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  child.kill('SIGTERM');
  await closed;
  clearTimeout(force);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port');
  return address.port;
}
