import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Arguments of Node for each proof. Its own options follow them. */
const PROOFS: Readonly<Record<string, readonly string[]>> = {
  clients: ['test/clients/run.ts'],
  conformance: ['test/conformance/run.ts'],
  'crash-table': [
    'node_modules/vitest/vitest.mjs',
    ...['run', 'test/proofs/faults/crash-table', 'test/cloud/recovery/restart.test.ts'],
  ],
  deliveries: ['test/proofs/deliveries/index.ts'],
  faults: ['test/proofs/faults/random/index.ts'],
  fuzz: ['test/proofs/fuzz/run.ts'],
  model: ['test/proofs/model/index.ts'],
  mutation: ['test/mutation/run.ts'],
  permissions: ['test/proofs/permissions/run.ts'],
  requirements: ['test/requirements/run.ts'],
  units: ['test/bench/units.ts'],
};

const [name = '', ...options] = process.argv.slice(2);
const proof = PROOFS[name];
if (proof === undefined) {
  console.error(
    `npm run proof -- NAME [options]. NAME is one of: ${Object.keys(PROOFS).join(', ')}. See docs/proofs/commands.md`,
  );
  process.exit(2);
}

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const child = spawn(process.execPath, [...proof, ...options], { cwd, stdio: 'inherit' });
// The terminal sends its signals to both. The proof decides how it ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void child.kill(signal));
child.once('exit', (code, signal) => {
  process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
});
