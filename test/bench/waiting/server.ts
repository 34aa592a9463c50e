import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** `npm start` in its own process, so that its memory can be measured. */
export interface ServerProcess {
  readonly url: string;
  /** Its memory, in MB. */
  megabytes(): number;
  /** The most memory it was seen to have, in MB. */
  mostMegabytes(): number;
  /** What its log says besides the audit. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

export async function startServer(args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['bin/local.ts', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const problems: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    if (!line.includes('"event":"audit"')) problems.push(line);
  });
  let url = '';
  for await (const line of createInterface(child.stdout)) {
    url = /^ready (\S+)/.exec(line)?.[1] ?? '';
    if (url !== '') break;
  }
  if (url === '') throw new Error('the server did not start');
  child.stdout.resume();
  let most = 0;
  const megabytes = () => {
    const kilobytes = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' }));
    most = Math.max(most, kilobytes / 1_024);
    return Math.round(kilobytes / 1_024);
  };
  const timer = setInterval(megabytes, 1_000);
  return {
    url,
    problems,
    megabytes,
    mostMegabytes: () => Math.round(most),
    async stop() {
      clearInterval(timer);
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
