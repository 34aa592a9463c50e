import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCloud } from '../../../local/cloud.ts';
import { synthApp } from '../../../local/testing.ts';
import { startOAuthCloud } from '../../support/oauth-cloud.ts';
import { startIssuer } from '../../support/oidc.ts';
import { fuzzCloud, type Kind } from './fuzz-cloud.ts';
import { seedOf } from './generate/random.ts';
import { slowSchemas } from './slow-schemas/kind.ts';
import { fuzzTokens } from './tokens/campaign.ts';

const USAGE = `npm run proof -- fuzz [--requests N] [--seed N]

Sends hostile requests to apps on the embedded cloud, through HTTP, and judges every answer: of 100, 2 go to tools with
hostile schemas, 8 have forged access tokens, and 90 are for the test app.

  --requests N   how many. Default 10000
  --seed N       the same requests again. Default: a new one each time`;

const { values } = parseArgs({
  options: { help: { type: 'boolean' }, requests: { type: 'string', default: '10000' }, seed: { type: 'string' } },
});
if (values.help) console.log(USAGE);
else process.exitCode = await main(Number(values.requests), seedOf(values.seed));

async function main(requests: number, seed: number): Promise<number> {
  console.log(`seed ${seed}, ${requests} requests`);
  const share = (percent: number) => Math.ceil((requests * percent) / 100);
  // Windows and holds of a second: a request that waits is soon answered.
  process.env.MCP_TEST_BRIEF = '1';
  const problems = [
    ...(await usual('test/support/apps/app.ts', seed, requests - share(2) - share(8))),
    ...(await usual('test/support/apps/slow-schema-app.ts', seed, share(2), slowSchemas)),
    ...(await tokens(seed, share(8))),
  ];
  console.log(problems.length === 0 ? 'nothing is wrong' : problems.join('\n'));
  return problems.length === 0 ? 0 : 1;
}

async function usual(app: string, seed: number, requests: number, kind?: Kind): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-fuzz-'));
  try {
    await synthApp(app, folder);
    const cloud = await startCloud({ assembly: folder, recordCalls: true });
    const started = performance.now();
    const report = await fuzzCloud(cloud, seed, requests, kind).finally(cloud.stop);
    const { named, stored, slowest } = report;
    console.log(summary(app, requests, report.answers, started));
    console.log(
      `${named.size} tasks named to clients, ${stored} stored; the slowest took ${(slowest / 1_000).toFixed(1)} s`,
    );
    return report.problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tokens(seed: number, requests: number): Promise<readonly string[]> {
  const issuer = await startIssuer();
  try {
    const cloud = await startOAuthCloud(issuer.url);
    const started = performance.now();
    const { problems, answers } = await fuzzTokens(cloud, issuer, seed, requests).finally(cloud.stop);
    console.log(summary('forged tokens', requests, answers, started));
    return problems;
  } finally {
    await issuer.stop();
  }
}

function summary(of: string, requests: number, answers: ReadonlyMap<string, number>, started: number): string {
  const kinds = [...answers]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `  ${String(count).padStart(6)}  ${kind}`);
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  return [`${of}: ${requests} requests in ${seconds} s, with these answers`, ...kinds].join('\n');
}
