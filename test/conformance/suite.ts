import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Revision, Scenario } from './scenarios.ts';
import type { Check, Outcome } from './verdict.ts';

const RUNNER = '../../node_modules/@modelcontextprotocol/conformance/dist/index.js';

/** The runner gives a scenario 30 s itself; past this it hangs. */
const RUN_LIMIT_MS = 90_000;

export interface SuiteOptions {
  readonly url: string;
  /** Where each run leaves its checks.json. */
  readonly resultsDir: string;
  readonly signal: AbortSignal;
}

interface Run {
  readonly scenario: Scenario;
  readonly revision: Revision | undefined;
}

/** Only a few: the tasks scenarios poll against the clock. */
const AT_ONCE = 4;

/** One run per scenario and revision. */
export async function runSuite(scenarios: readonly Scenario[], options: SuiteOptions): Promise<Outcome[]> {
  const runs = scenarios.flatMap(runsOf);
  const outcomes: Outcome[] = [];
  const left = runs.entries();
  const some = async () => {
    for (const [index, run] of left) {
      options.signal.throwIfAborted();
      outcomes[index] = await runScenario(run, options);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  return outcomes;
}

export function runsOf(scenario: Scenario): readonly Run[] {
  const revisions = scenario.revisions.length > 0 ? scenario.revisions : [undefined];
  return revisions.map((revision) => ({ scenario, revision }));
}

async function runScenario({ scenario, revision }: Run, { url, resultsDir, signal }: SuiteOptions): Promise<Outcome> {
  const directory = join(resultsDir, `${scenario.name}@${revision ?? 'extension'}`);
  await mkdir(directory, { recursive: true });
  const args = ['server', '--url', url, '--scenario', scenario.name, '-o', directory];
  // An extension scenario is skipped, with exit code 0, when it is asked for by revision.
  if (revision !== undefined) args.push('--spec-version', revision);
  const { exitCode, output } = await runner(args, AbortSignal.any([signal, AbortSignal.timeout(RUN_LIMIT_MS)]));
  return { scenario, revision, checks: await readChecks(directory), exitCode, output };
}

/** Calls the official runner and waits for its end. */
export function runner(args: readonly string[], signal: AbortSignal): Promise<Pick<Outcome, 'exitCode' | 'output'>> {
  const script = fileURLToPath(new URL(RUNNER, import.meta.url));
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') };
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'], signal });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.on('error', (error) => {
      output += `\n${error.message}`;
    });
    child.on('close', (exitCode) => resolve({ exitCode, output }));
  });
}

/** The runner makes a directory, named after the scenario and the time, below the one it is given. */
async function readChecks(directory: string): Promise<readonly Check[] | undefined> {
  const [own] = (await readdir(directory)).sort().reverse();
  if (own === undefined) return undefined;
  try {
    return JSON.parse(await readFile(join(directory, own, 'checks.json'), 'utf8')) as Check[];
  } catch {
    return undefined;
  }
}
