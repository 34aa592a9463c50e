/**
 * Kills the cloud at every point, in any order, ten times a round: `node test/cloud/kills/index.ts`, ten rounds with a
 * new seed; `--seed 7`: that one; `--seed 7 --rounds 100`: 100 from there on. Exits 1 if one ends wrong.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { synthApp } from '../../../local/testing.ts';
import { randomOf, seedOf } from '../../proofs/fuzz/generate/random.ts';
import { type PointName, points } from './points.ts';
import { killAll } from './process.ts';
import { type Death, runRound } from './round.ts';

const { values } = parseArgs({ options: { seed: { type: 'string' }, rounds: { type: 'string' } } });
const first = seedOf(values.seed);
const rounds = Number(values.rounds ?? (values.seed === undefined ? 10 : 1));
const possible: readonly Death[] = [...(Object.keys(points) as PointName[]), 'any time', 'any time'];

const folder = mkdtempSync(join(tmpdir(), 'mcp-kills-'));
try {
  const assembly = join(folder, 'assembly');
  await synthApp('test/support/apps/restart-app.ts', assembly);
  for (let seed = first; seed < first + rounds; seed++) {
    const random = randomOf(seed, -1);
    const deaths = Array.from({ length: 10 }, () => random.pick(possible));
    const { kills, stories, ends, missed, wrong } = await runRound({
      ...{ seed, assembly, deaths },
      folder: join(folder, String(seed)),
    });
    console.log(`seed ${seed}: ${stories.length} stories, ${JSON.stringify(ends)}\n  ${kills.join('\n  ')}`);
    for (const death of missed) console.log(`  NEVER CAME: ${death}`);
    for (const one of wrong) console.log(`  WRONG: ${one}`);
    if (wrong.length > 0) process.exitCode = 1;
  }
} finally {
  killAll();
  rmSync(folder, { recursive: true, force: true });
}
