import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCloud } from '../../local/cloud.ts';
import { synthApp } from '../../local/synth.ts';
import { type CloudReport, fuzzCloud } from './fuzz-cloud.ts';
import { seedOf } from './random.ts';

const USAGE = `npm run fuzz [-- [--requests N] [--seed N]]

Sends hostile requests to the test app on the embedded cloud, through HTTP, and judges every answer.

  --requests N   how many. Default 10000
  --seed N       the same requests again. Default: a new one each time`;

const { values } = parseArgs({
  options: { help: { type: 'boolean' }, requests: { type: 'string', default: '10000' }, seed: { type: 'string' } },
});
if (values.help) console.log(USAGE);
else process.exitCode = await main(Number(values.requests), seedOf(values.seed));

async function main(requests: number, seed: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-fuzz-'));
  try {
    // Windows and holds of a second: a request that waits is soon answered.
    process.env.MCP_TEST_BRIEF = '1';
    await synthApp('test/support/app.ts', folder);
    const cloud = await startCloud({ assembly: folder, recordCalls: true });
    console.log(`seed ${seed}, ${requests} requests`);
    const started = performance.now();
    const report = await fuzzCloud(cloud, seed, requests).finally(cloud.stop);
    console.log(summary(report, (performance.now() - started) / 1_000));
    return report.problems.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function summary({ answers, told, stored, slowest, problems }: CloudReport, seconds: number): string {
  const kinds = [...answers]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `  ${String(count).padStart(6)}  ${kind}`);
  return [
    ...['answers:', ...kinds],
    `${told.size} tasks named to clients, ${stored} stored; the slowest answer took ${(slowest / 1_000).toFixed(1)} s, all ${seconds.toFixed(0)} s`,
    ...(problems.length === 0 ? ['nothing is wrong'] : problems),
  ].join('\n');
}
