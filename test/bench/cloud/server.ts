import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Answer, Used } from './process.ts';

export interface CloudProcess {
  readonly url: string;
  /** Milliseconds from the start of the process until the API listens. */
  readonly startMs: number;
  used(): Promise<Used>;
  stop(): Promise<void>;
}

/** @param dataDir @default in memory @param execArgv flags of Node, such as `--cpu-prof` @default none */
export async function startProcess(
  assembly: string,
  dataDir?: string,
  execArgv: readonly string[] = [],
): Promise<CloudProcess> {
  const args = [assembly, ...(dataDir === undefined ? [] : [dataDir])];
  const child = fork(join(import.meta.dirname, 'process.ts'), args, { execArgv: ['--expose-gc', ...execArgv] });
  const started = await next(child);
  if (!('url' in started)) throw new Error('the process did not begin with its url');
  return {
    ...started,
    async used() {
      child.send('use');
      const used = await next(child);
      if (!('rssBytes' in used)) throw new Error('the process did not answer with its memory');
      return used;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.send('stop');
      await exited;
    },
  };
}

async function next(child: ChildProcess): Promise<Answer> {
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the embedded cloud ended with ${code}`);
  });
  const [message] = await Promise.race([once(child, 'message'), exited]);
  return message as Answer;
}
