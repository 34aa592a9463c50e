import { defineConfig } from 'vitest/config';

const { MUTATION_TESTS, MUTATION_ISOLATE, MUTATION_ASSEMBLY = '' } = process.env;

/** The tests that `npm run proof -- mutation` asks about each mutant of a slice (./slices.ts). */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  test: {
    include: JSON.parse(MUTATION_TESTS ?? '[]'),
    // One worker for each mutant, not one for each test file; only what runs when a module loads needs a new one.
    isolate: MUTATION_ISOLATE === 'true',
    provide: { assembly: MUTATION_ASSEMBLY },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
