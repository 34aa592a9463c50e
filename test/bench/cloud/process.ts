import { enableCompileCache } from 'node:module';

// `npm start` does the same.
enableCompileCache();
const { startCloud } = await import('../../../local/cloud.ts');
const { RECEIVERS_HERE } = await import('../../../local/marks.ts');

/**
 * One embedded cloud in a separate process, started with `--expose-gc`: a client in the same process would be measured
 * with it. @example fork('process.ts', [assembly, dataDir])
 */
export type Answer = { readonly url: string; readonly startMs: number } | Used;

export interface Used {
  /** Resident memory after a garbage collection. */
  readonly rssBytes: number;
  /** Processor time of all threads since the start, before that collection. */
  readonly cpuMs: number;
}

const [assembly = '', dataDir] = process.argv.slice(2);
const cloud = await startCloud({ assembly, variables: RECEIVERS_HERE, ...(dataDir !== undefined && { dataDir }) });
const answer = (message: Answer) => process.send?.(message);

process.on('message', async (message) => {
  if (message === 'use') {
    const { user, system } = process.cpuUsage();
    // Collects the garbage of the workers, which share this memory.
    await cloud.lambda.heaps();
    gc?.();
    answer({ rssBytes: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000 });
  } else {
    await cloud.stop();
    process.exit(0);
  }
});
answer({ url: `${cloud.url}/mcp`, startMs: performance.now() });
