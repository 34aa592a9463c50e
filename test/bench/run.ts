/**
 * `npm run bench`: measures each arm, prints its rows, and writes them into docs/performance.md when all have run.
 * `-- cost`: only that one, and writes nothing. Measure on a quiet machine: the ratios are of pairs, but a run beside
 * others has wide spreads. `-- scale` measures nothing: it computes where AWS throttles first, for docs/limits.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { arms } from './arms.ts';
import { machine, markdown, type Result, replaced } from './report/page.ts';
import { runScale } from './scale/index.ts';

const PAGE = 'docs/performance.md';

const asked = process.argv.slice(2);
const wanted = asked.filter((name) => name !== 'scale');
if (asked.includes('scale')) await runScale();
if (asked.length > 0 && wanted.length === 0) process.exit();

const unknown = wanted.filter((name) => !(name in arms));
if (unknown.length > 0)
  throw new Error(`no arm ${unknown.join(', ')}: there are ${Object.keys(arms).join(', ')}, scale`);

const results: Result[] = [];
for (const [name, arm] of Object.entries(arms)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const begun = performance.now();
  const result = { arm, rows: await arm.run() };
  results.push(result);
  console.log(`${markdown([result])}\n\n(${Math.round((performance.now() - begun) / 1_000)} s)\n`);
}
if (wanted.length === 0) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  writeFileSync(PAGE, replaced(readFileSync(PAGE, 'utf8'), `${machine(commit)}\n\n${markdown(results)}`));
  console.log(`Written into ${PAGE}.`);
}
