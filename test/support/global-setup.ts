import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthApp } from '../../local/testing.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Cloud assembly of test/support/apps/app.ts. */
    assembly: string;
    /** The assembly with windows and holds of one second. */
    brief: string;
    /** Where `useAssembly` keeps the assemblies of other apps until the whole run ends. */
    assemblies: string;
    /** Whether Lambda keeps each chunk of a stream until the next one, or the end (`vitest.config.ts`, project `held`). */
    holdsChunks?: boolean;
  }
}

/** Synthesizes the test app, in both variants, once for the whole run. */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-test-assembly-'));
  const [assembly, brief] = [join(folder, 'assembly'), join(folder, 'brief')];
  // Both start at once. Each process of an app gets the environment of the moment in which it starts.
  const first = synthApp('test/support/apps/app.ts', assembly);
  process.env.MCP_TEST_BRIEF = '1';
  const second = synthApp('test/support/apps/app.ts', brief);
  delete process.env.MCP_TEST_BRIEF;
  await Promise.all([first, second]);
  project.provide('assembly', assembly);
  project.provide('brief', brief);
  project.provide('assemblies', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
