import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runAhead } from './ahead.ts';
import { report } from './report.ts';
import { select } from './scenarios.ts';
import { startFixtureServer } from './server.ts';
import { runSuite } from './suite.ts';
import { isAcceptable, type Outcome } from './verdict.ts';

const USAGE = `npm run proof -- conformance [options] [scenario…]

Runs the official MCP conformance suite against the fixture app on the embedded cloud.
Without scenarios: all of them, and what open pull requests of the suite will check (scenario 'ahead').

  --url URL        a server that already runs, instead of the fixture app
  --results DIR    keep the runner's results there`;

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => interrupt.abort(new Error(`got ${name}`)));

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  return 1;
});

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      url: { type: 'string' },
      results: { type: 'string' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const names = positionals.filter((name) => name !== 'ahead');
  const scenarios = names.length === 0 && positionals.length > 0 ? [] : select(names);
  const outcomes = await withResultsDir(values.results, (resultsDir) =>
    withServer(values.url, async (url) => [
      ...(await runSuite(scenarios, { url, resultsDir, signal: interrupt.signal })),
      ...(names.length < positionals.length || positionals.length === 0 ? await runAhead(url) : []),
    ]),
  );
  return outcomes.every(isAcceptable) ? 0 : 1;
}

async function withResultsDir<T>(kept: string | undefined, work: (directory: string) => Promise<T>): Promise<T> {
  if (kept !== undefined) return work(resolve(kept));
  const directory = await mkdtemp(join(tmpdir(), 'mcp-conformance-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Reports while the fixture server can still be quoted, and always ends it. */
async function withServer(url: string | undefined, run: (url: string) => Promise<Outcome[]>): Promise<Outcome[]> {
  const server = url === undefined ? await startFixtureServer(interrupt.signal) : undefined;
  try {
    const outcomes = await run(server?.url ?? url ?? '');
    console.log(report(outcomes));
    if (server !== undefined && !outcomes.every(isAcceptable)) console.log(`\nThe server printed:\n${server.tail()}`);
    return outcomes;
  } finally {
    await server?.stop();
  }
}
