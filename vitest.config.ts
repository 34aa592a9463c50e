import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { crashTable } from './test/proofs/faults/crash-table/reporter.ts';

/** What `npm test` leaves to `npm run test:all`: proofs, faults, load, commands for people, and what runs other programs. */
const LONG = [
  'test/{aws,bench,bin,conformance,dev,packages,proofs}/**/*.test.ts',
  'test/cloud/{auth,events,examples,full-disk,load,recovery,results}/**/*.test.ts',
  'test/cloud/files/processes.test.ts',
  'test/cloud/{idempotency,journal,machine-outputs,options,python,tool-runs}.test.ts',
  'test/contract/store.test.ts',
  'test/functions/reconciler/sleepers.test.ts',
  'test/functions/{decisions/decisions,engine/signal-schedules}.test.ts',
  'test/docs/{api,readme,writing-tools}.test.ts',
  'test/requirements/titles.test.ts',
  'test/stack/{bundles/**/,}{nag,bundle*,budget,parts}.test.ts',
  'local/test/{faults,lambda/load,events/cdk,event-source/cdk,dynamodb/stream/restart,s3/large,command,concurrency}{/**/*,}.test.ts',
];

/** Tests of streams, which also pass where Lambda keeps each chunk until the next one (docs/architecture/requests.md). */
const STREAMS = ['test/cloud/{legacy,modern}/**/*.test.ts', 'test/cloud/{spine,helper-tools}.test.ts'];

/** Ends a test that hangs, in milliseconds. No test depends on it: a busy machine may be ten times slower. */
const HANGS = 900_000;

const shared = {
  setupFiles: ['test/support/planted.ts'],
  testTimeout: HANGS,
  hookTimeout: HANGS,
  expect: { poll: { timeout: HANGS / 2 } },
  env: {
    // As for `dev` (local/template/synth.ts). `npm run synth` in .ci/run checks the template by the rules of CDK.
    CDK_VALIDATION: 'false',
    // Commands and apps that tests start then take half of the time to load.
    NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
  },
  // Files share a process: to start one, and to load the code again, takes longer than most files.
  isolate: false,
};

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    reporters: [...configDefaults.reporters, crashTable],
    // Once for all projects.
    globalSetup: ['test/support/global-setup.ts'],
    // Tests wait for other threads most of their time.
    maxWorkers: 2 * availableParallelism(),
    projects: [
      { test: { ...shared, name: 'short', include: ['{test,local/test}/**/*.test.ts'], exclude: LONG } },
      { test: { ...shared, name: 'long', include: LONG } },
      { test: { ...shared, name: 'held', include: STREAMS, provide: { holdsChunks: true } } },
    ],
  },
});
