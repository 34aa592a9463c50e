/**
 * `npm run soak -- [--minutes 10] [--clients 6]`: clients of both revisions call tools one task after the other, at the
 * rate that this machine holds, while a few of the calls behind them go wrong. Every task must come to its right end: it
 * fails only for a reason that a fault gave it. The workers must hold as much in their last minute as in their second
 * one, and the process no more of a task than its texts and events. Exits 1 where it is not so; with
 * `--leak endpoint|tool|reconciler`, a seeded bug, it must.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCloud } from '../../local/cloud.ts';
import { synthApp } from '../../local/template/synth.ts';
import { plantLeak } from '../proofs/faults/memory/leak.ts';
import { createMemory } from '../proofs/faults/memory/memory.ts';
import { disturb } from './soak/strikes.ts';
import { createWork } from './soak/work.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '6' },
    rate: { type: 'string', default: '0.002' },
    leak: { type: 'string' },
  },
});
const [minutes, clients, rate] = [Number(values.minutes), Number(values.clients), Number(values.rate)];
const SAMPLE_MS = 20_000;
const MINUTE = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'mcp-soak-'));
try {
  const assembly = join(folder, 'assembly');
  await synthApp('test/support/apps/app.ts', assembly);
  if (values.leak !== undefined) plantLeak(assembly, values.leak);
  // On disk, so that the memory of this process is not that of the tables.
  const cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'data'),
    maxWorkersPerFunction: 4,
    // As on AWS, a worker that is killed takes one request with it.
    sharedWorkers: false,
  });
  try {
    const work = await createWork(`${cloud.url}/mcp`, clients, folder);
    const strikes = disturb(cloud, rate);
    const memory = createMemory(cloud, work.tasks);
    const sampling = setInterval(memory.sample, SAMPLE_MS);
    const begun = performance.now();
    const reporting = setInterval(() => console.log(`${work.line()}; ${memory.line()}`), MINUTE);
    await work.run(() => performance.now() - begun > minutes * MINUTE);
    clearInterval(sampling);
    clearInterval(reporting);
    await memory.sample();
    console.log(`${minutes} minutes: ${work.line()}\n${strikes.line()}\n${memory.report()}`);
    const wrong = [...work.wrong, ...strikes.unexplained(work.failures()), ...memory.wrong()];
    for (const what of wrong) console.log(what);
    console.log(wrong.length === 0 ? 'Memory is flat, every task right' : 'NOT as it should be');
    process.exitCode = wrong.length === 0 ? 0 : 1;
  } finally {
    await cloud.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
