import { defineConfig } from 'vitest/config';

/** The tests that `npm run mutation` asks about each mutant: those beside the code, without a cloud. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: [
      'test/functions/{tasks,authorizer,mcp,reconciler,tool}/**/*.test.ts',
      'test/contract/store.test.ts',
      'test/lib/{workflow,workflow-causes,tool-run}.test.ts',
    ],
    testTimeout: 30_000,
  },
});
