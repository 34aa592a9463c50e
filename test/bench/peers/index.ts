import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { synthApp } from '../../../local/testing.ts';
import { openClient, type Times } from '../cloud/client.ts';
import { digits } from '../report/page.ts';
import type { Arm, Row } from '../report/row.ts';
import { paired, quantile } from '../report/statistics.ts';
import { fastMcp, officialSdk, ours, type Peer, startRedis } from './servers.ts';

const ROUNDS = 10;
const CALLERS = [1, 16];
const SLICE_MS = 1_500;

/** The same work on what people would pick instead. */
export const peers: Arm = {
  title: 'Beside other servers with tasks',
  about:
    'Short tasks: a call, and polls every 5 ms until it is completed, on one machine; all servers run at the same time and ' +
    'are measured in turns. The others run the tool in the process of the server: FastMCP in one Python process with ' +
    'its worker, the SDK in one Node process. They keep tasks in memory, or in a Redis that writes nothing to disk. The ' +
    'embedded cloud does what AWS does, with API Gateway, IAM, Lambda, Step Functions and DynamoDB as parts; on disk, ' +
    'a task survives a crash of the process.',
  async run() {
    const assembly = mkdtempSync(join(tmpdir(), 'mcp-bench-'));
    const running: { stop(): Promise<void> }[] = [];
    try {
      await synthApp('test/bench/cloud/app.ts', assembly);
      const redis = await startRedis();
      if (redis !== undefined) running.push(redis);
      const all: Peer[] = [];
      for (const begin of [
        () => ours(assembly, true),
        () => ours(assembly, false),
        officialSdk,
        () => fastMcp(),
        ...(redis === undefined ? [] : [() => fastMcp(redis.url)]),
      ]) {
        const peer = await begin();
        if (peer === undefined) continue;
        running.push(peer);
        all.push(peer);
      }
      const missing = [
        ...(redis === undefined ? ['no redis-server on this machine (REDIS_SERVER names its file)'] : []),
        ...(all.some(({ name }) => name.startsWith('FastMCP')) ? [] : ['no Python for FastMCP']),
      ].map((measured) => ({ what: 'not measured', measured }));
      const rows: Row[] = [];
      for (const callers of CALLERS) rows.push(...(await compared(all, callers)));
      return [...rows, ...missing];
    } finally {
      // Redis last: what uses it complains otherwise.
      for (const { stop } of running.toReversed()) await stop();
      rmSync(assembly, { recursive: true, force: true });
    }
  },
};

async function compared(all: readonly Peer[], callers: number): Promise<Row[]> {
  const samples = all.map(() => ({ rates: [] as number[], times: { creates: [], polls: [], tasks: [] } as Times }));
  for (const peer of all) await slice(peer, callers);
  for (let round = 0; round < ROUNDS; round++) {
    for (const i of [...all.keys()].toSorted(() => Math.random() - 0.5)) {
      const times = await slice(all[i] as Peer, callers);
      samples[i]?.rates.push((times.tasks.length / SLICE_MS) * 1_000);
      for (const name of ['creates', 'polls', 'tasks'] as const) samples[i]?.times[name].push(...times[name]);
    }
  }
  const [base] = samples;
  return samples.map(({ rates, times }, i) => ({
    what: `${all[i]?.name}: ${callers === 1 ? '1 caller' : `${callers} callers`}`,
    measured:
      `${digits(quantile(rates, 0.5))} tasks/s; create ${spread(times.creates)}, poll ${spread(times.polls)}, ` +
      `task ${spread(times.tasks)}`,
    ...(i > 0 && { ratio: { ...paired(rates, base?.rates ?? []), to: 'tasks/s on disk' } }),
  }));
}

const spread = (times: readonly number[]) =>
  `${[0.5, 0.95, 0.99].map((share) => digits(quantile(times, share))).join(' / ')} ms`;

async function slice({ url, revision }: Peer, callers: number): Promise<Times> {
  const times: Times = { creates: [], polls: [], tasks: [] };
  const until = performance.now() + SLICE_MS;
  const caller = async () => {
    const client = openClient(url, revision);
    try {
      do await client.run(times);
      while (performance.now() < until);
    } finally {
      client.close();
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return times;
}
