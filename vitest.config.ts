import { configDefaults, defineConfig } from 'vitest/config';
import { crashTable } from './test/proofs/faults/crash-table/reporter.ts';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'local/test/**/*.test.ts'],
    reporters: [...configDefaults.reporters, crashTable],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/planted.ts'],
    // One less than there are cores by default, which is half of a small machine.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
