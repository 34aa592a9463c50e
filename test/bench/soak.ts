/**
 * `npm run soak -- [--minutes 10] [--clients 6]`: clients of both revisions call tools one task after the other, at the
 * rate that this machine holds, while a few of the calls behind them go wrong. Every task must come to its right end,
 * and the memory of the workers must be as large in the last minute as in the second one. Exits 1 where it is not so.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { randomFaults } from '../../local/faults/index.ts';
import { synthApp } from '../../local/synth.ts';
import { createMemory } from './soak/memory.ts';
import { createWork } from './soak/work.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '6' },
    rate: { type: 'string', default: '0.002' },
  },
});
const [minutes, clients, rate] = [Number(values.minutes), Number(values.clients), Number(values.rate)];
const SAMPLE_MS = 20_000;
const MINUTE = 60_000;

/** Faults of all kinds, but few deaths: a worker's memory can be judged only if it lives. */
function disturb(cloud: Cloud): () => number {
  let [strikes, deaths] = [0, 0];
  const random = randomFaults({ seed: 1, rate });
  cloud.faults.use((call) => {
    const fault = random(call);
    const deadly = fault === 'killWorker' || (typeof fault === 'object' && 'killAfterMs' in fault);
    if (fault === undefined || (deadly && deaths++ % 20 !== 0)) return undefined;
    strikes += 1;
    return fault;
  });
  return () => strikes;
}

const folder = mkdtempSync(join(tmpdir(), 'mcp-soak-'));
try {
  const assembly = join(folder, 'assembly');
  await synthApp('test/support/app.ts', assembly);
  // On disk, so that the memory of this process is not that of the tables.
  const cloud = await startCloud({ assembly, dataDir: join(folder, 'data'), maxWorkersPerFunction: 4 });
  try {
    const work = await createWork(`${cloud.url}/mcp`, clients, folder);
    const strikes = disturb(cloud);
    const memory = createMemory(cloud);
    const sampling = setInterval(memory.sample, SAMPLE_MS);
    const begun = performance.now();
    const reporting = setInterval(() => console.log(`${work.line()}, ${strikes()} faults; ${memory.line()}`), MINUTE);
    await work.run(() => performance.now() - begun > minutes * MINUTE);
    clearInterval(sampling);
    clearInterval(reporting);
    console.log(`${minutes} minutes: ${work.line()}, ${strikes()} faults`);
    console.log(memory.report());
    for (const wrong of work.wrong) console.log(wrong);
    const fine = work.wrong.length === 0 && work.failed() <= strikes() && memory.isFlat();
    console.log(fine ? 'Memory is flat, every task right' : 'NOT as it should be');
    process.exitCode = fine ? 0 : 1;
  } finally {
    await cloud.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
