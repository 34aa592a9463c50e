import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthApp } from '../../local/synth.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Cloud assembly of test/support/app.ts. */
    assembly: string;
  }
}

/** Synthesizes the test app once for the whole run. */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-test-assembly-'));
  await synthApp('test/support/app.ts', folder);
  project.provide('assembly', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
