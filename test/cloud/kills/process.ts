import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process of the embedded cloud. */
export interface CloudProcess {
  readonly url: string;
  /** Resolves when it is gone, for any reason. */
  readonly gone: Promise<void>;
  /** With `kill -9`, and waits until it is gone. */
  kill(): Promise<void>;
}

const running = new Set<{ kill(signal: 'SIGKILL'): unknown }>();

/** Runs a script that says `ready <url>`, and waits for that. */
export async function startProcess(...args: string[]): Promise<CloudProcess> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const gone = once(child, 'exit').then(() => void running.delete(child));
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  let output = '';
  child.stderr.on('data', (chunk) => (output = `${output}${chunk}`.slice(-10_000)));
  for await (const chunk of child.stdout) {
    output += chunk;
    const url = /^ready (\S+)$/m.exec(output)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { url, gone, kill };
  }
  throw new Error(`It did not start:\n${output}`);
}

/** Ends the processes of a failed test. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}
