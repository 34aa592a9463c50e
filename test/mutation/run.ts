import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { synthApp } from '../../local/testing.ts';
import { SLICES, type Slice } from './slices.ts';

/** The least score of each slice, in percent. */
const ENOUGH = 90;
const OUT = 'results/mutation';

const USAGE = `npm run proof -- mutation [--fresh] [--static] [--only FILE] [SLICE ...]

Changes the code in small ways, one at a time, and shows which changes no test notices.

  SLICE        one of ${Object.keys(SLICES).join(', ')}. Default: all of them, some hours
  --only FILE  only the mutants of this file of the slice, or of a part of it: file.ts:10-20
  --static     also what runs when a module loads, such as a table: it takes longer
  --fresh      asks again about mutants whose code and tests are as they were in the last run

Fails when the score of a slice is below ${ENOUGH} %. Prints the survivors. A change that makes no difference is left out
by a comment beside the code: "// Stryker disable next-line StringLiteral: reason".`;

const { values, positionals } = parseArgs({
  options: {
    ...{ help: { type: 'boolean' }, fresh: { type: 'boolean' }, static: { type: 'boolean' } },
    only: { type: 'string', multiple: true },
  },
  allowPositionals: true,
});

type Options = ConstructorParameters<typeof Stryker>[0];
type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const withStatic = (slice: Slice): boolean => values.static ?? slice.static ?? false;

function options(name: string, slice: Slice): Options {
  return {
    mutate: [...(values.only ?? slice.mutate)],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'internal-texts.ts')],
    ignorers: ['internal-texts'],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    ignoreStatic: !withStatic(slice),
    incremental: true,
    force: values.fresh ?? false,
    incrementalFile: `${OUT}/${name}.json`,
    // TypeScript 7 has no API to rewrite a configuration with, and nothing here needs that.
    tsconfigFile: 'none',
    disableTypeChecks: false,
    concurrency: 1,
    // On a busy machine a slow test must not count as one that hangs.
    timeoutMS: 30_000,
    reporters: ['progress-append-only'],
    // functions/tasks/results is source, and stays.
    ignorePatterns: ['cdk.out*', '/results', 'coverage', '.data'],
    tempDirName: '.stryker-tmp',
    allowEmpty: false,
  };
}

async function run(name: string): Promise<boolean> {
  const slice = SLICES[name];
  if (slice === undefined) throw new Error(`There is no slice '${name}'. See npm run proof -- mutation --help`);
  // What runs when a module loads needs a worker for each test file. Without it one for each mutant is enough.
  process.env.MUTATION_ISOLATE = String(slice.isolate ?? withStatic(slice));
  process.env.MUTATION_TESTS = JSON.stringify(slice.tests);
  return report(name, await new Stryker(options(name, slice)).runMutationTest());
}

/** Prints the score and the survivors. @returns whether the score is high enough */
function report(name: string, mutants: readonly Mutant[]): boolean {
  const count = (...kinds: Mutant['status'][]) => mutants.filter(({ status }) => kinds.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const alive = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const score = (100 * killed) / (killed + alive.length);
  for (const mutant of alive) {
    console.log(`${mutant.status === 'NoCoverage' ? 'not run' : 'survived'}  ${describe(mutant)}`);
  }
  console.log(
    `${name}: ${score.toFixed(1)} % of ${killed + alive.length}: ${killed} killed, ${alive.length} survived; ` +
      `${count('Timeout')} timeouts among the killed, ${count('Ignored')} left out, ${count('CompileError', 'RuntimeError')} errors`,
  );
  return score >= ENOUGH;
}

/** One line on a mutant: file, old text, new text. */
function describe({ fileName, location, replacement, mutatorName }: Mutant): string {
  const { start, end } = location;
  const file = fileName.slice(process.cwd().length + 1);
  const inside = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  inside.push(inside.pop()?.slice(0, end.column - 1) ?? '');
  inside.unshift(inside.shift()?.slice(start.column - 1) ?? '');
  const [from, to] = [inside.join('\n'), replacement ?? ''].map((code) => code.replace(/\s+/g, ' '));
  return `${file}:${start.line}:${start.column} ${mutatorName} \`${from}\` -> \`${to}\``;
}

async function main(): Promise<number> {
  mkdirSync(OUT, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'mcp-mutation-'));
  try {
    const names = positionals.length > 0 ? positionals : Object.keys(SLICES);
    if (names.includes('store')) await synthApp('test/support/apps/app.ts', folder);
    process.env.MUTATION_ASSEMBLY = folder;
    let enough = true;
    for (const name of names) enough = (await run(name)) && enough;
    return enough ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (values.help) console.log(USAGE);
else process.exitCode = await main();
