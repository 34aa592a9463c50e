import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthApp } from '../../../local/testing.ts';
import { openClient, type Times } from './client.ts';
import { startProcess } from './server.ts';

/** Percentiles, in milliseconds. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Short tasks of several concurrent callers, each polled until it is done. */
export interface LoadRow {
  readonly callers: number;
  /** Whether the cloud keeps its data on disk. */
  readonly durable: boolean;
  readonly tasks: number;
  readonly tasksPerSecond: number;
  readonly create: Spread;
  readonly poll: Spread;
  /** From the call to the answer that says `completed`. */
  readonly task: Spread;
  /** Growth of the resident memory, after a garbage collection. */
  readonly megabytesPer1000Tasks: number;
  /** Processor time of all threads of the cloud: what other processes of the machine change least. */
  readonly cpuMsPerTask: number;
}

/** A start from a finished assembly. */
export interface StartRow {
  /** Milliseconds from the start of the process until the API listens. */
  readonly listens: Spread;
  /** Milliseconds from the start of the process to the end of the first task. */
  readonly firstTask: Spread;
}

export interface LoadOptions {
  /** The folder that `test/bench/cloud/app.ts` was synthesized into. */
  readonly assembly: string;
  /** @default [1, 4, 16, 64] */
  readonly callers?: readonly number[];
  /** Milliseconds of each measurement. @default 5_000 */
  readonly forMs?: number;
  /** Whether the data is kept on disk, in a temporary folder. @default true */
  readonly durable?: boolean;
  /** How many tasks run before the first measurement: then all workers run, and the code is compiled. @default 500 */
  readonly warmTasks?: number;
  /** @default none */
  readonly execArgv?: readonly string[];
}

/** Callers of the tasks before the first measurement. */
const WARM_CALLERS = 64;

/** The arm of the embedded cloud in `npm run bench`. In less than two minutes. */
export async function measureCloud(): Promise<{ readonly loads: readonly LoadRow[]; readonly start: StartRow }> {
  const assembly = mkdtempSync(join(tmpdir(), 'mcp-bench-assembly-'));
  try {
    await synthApp('test/bench/cloud/app.ts', assembly);
    const inMemory = await measureLoad({ assembly, durable: false });
    const onDisk = await measureLoad({ assembly });
    return { loads: [...inMemory, ...onDisk], start: await measureStart({ assembly }) };
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
}

/** In half a minute, by default: a separate cloud that serves one number of callers after the other. */
export async function measureLoad(options: LoadOptions): Promise<LoadRow[]> {
  const { assembly, callers = [1, 4, 16, 64], forMs = 5_000, durable = true, warmTasks = 500, execArgv } = options;
  const folder = durable ? mkdtempSync(join(tmpdir(), 'mcp-bench-cloud-')) : undefined;
  const cloud = await startProcess(assembly, folder, execArgv);
  try {
    await run(cloud.url, WARM_CALLERS, (done) => done < warmTasks);
    const rows: LoadRow[] = [];
    for (const count of callers) {
      const before = await cloud.used();
      const begun = performance.now();
      const times = await run(cloud.url, count, () => performance.now() - begun < forMs);
      const seconds = (performance.now() - begun) / 1_000;
      const tasks = times.tasks.length;
      const after = await cloud.used();
      rows.push({
        callers: count,
        durable,
        tasks,
        tasksPerSecond: tasks / seconds,
        create: spread(times.creates),
        poll: spread(times.polls),
        task: spread(times.tasks),
        megabytesPer1000Tasks: ((after.rssBytes - before.rssBytes) / 2 ** 20 / tasks) * 1_000,
        cpuMsPerTask: (after.cpuMs - before.cpuMs) / tasks,
      });
    }
    return rows;
  } finally {
    await cloud.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** @param starts how many, one after the other @default 5 */
export async function measureStart({ assembly }: Pick<LoadOptions, 'assembly'>, starts = 5): Promise<StartRow> {
  const listens: number[] = [];
  const firstTask: number[] = [];
  for (let start = 0; start < starts; start++) {
    const begun = performance.now();
    const cloud = await startProcess(assembly);
    try {
      await run(cloud.url, 1, (done) => done < 1);
      listens.push(cloud.startMs);
      firstTask.push(performance.now() - begun);
    } finally {
      await cloud.stop();
    }
  }
  return { listens: spread(listens), firstTask: spread(firstTask) };
}

/** Each caller runs one task after the other, while `goesOn` returns true. */
async function run(url: string, callers: number, goesOn: (begun: number) => boolean): Promise<Times> {
  const times: Times = { creates: [], polls: [], tasks: [] };
  let begun = 0;
  const caller = async () => {
    const client = openClient(url);
    try {
      while (goesOn(begun++)) await client.run(times);
    } finally {
      client.close();
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return times;
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
