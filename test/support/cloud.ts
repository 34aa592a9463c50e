import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, inject } from 'vitest';
import { type Cloud, type CloudOptions, startCloud } from '../../local/cloud.ts';
import { temporaryDir } from '../../local/test/fixture.ts';
import { type Choose, synthApp } from '../../local/testing.ts';

/**
 * An embedded cloud of the test app for one test file; `brief`: with windows and holds of one second. Its schedules run
 * only when a test fires them, so that a test counts only its own calls.
 */
export function useCloud(variant: 'assembly' | 'brief' = 'assembly', options: Partial<CloudOptions> = {}): () => Cloud {
  let cloud: Cloud | undefined;
  beforeAll(async () => {
    const quiet = { recordCalls: true, schedules: false, onLog: () => {} };
    cloud = await startCloud({ assembly: inject(variant), ...quiet, ...options });
    if (inject('holdsChunks')) cloud.faults.use(holdChunks);
  });
  afterAll(() => cloud?.stop());
  return () => {
    if (cloud === undefined) throw new Error('The cloud is not up yet');
    return cloud;
  };
}

/** Lambda keeps each chunk of a streamed answer until the next one, or the end. */
export const holdChunks: Choose = ({ service, at }) =>
  service === 'apigateway' && at === 'before' ? 'holdChunks' : undefined;

/** The assembly of another app, for the `assembly` of `useCloud`. Gone after the tests of the file. @param app its path */
export function useAssembly(app: string): string {
  const folder = temporaryDir();
  beforeAll(() => synthApp(app, folder));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The function of the test app's tools, by which the embedded cloud knows whose rights count. */
export function toolFunction(): string {
  const text = readFileSync(join(inject('assembly'), 'Test.template.json'), 'utf8');
  const { Resources } = JSON.parse(text) as { Resources: Record<string, { Type: string }> };
  const [name] =
    Object.entries(Resources).find(([id, { Type }]) => Type === 'AWS::Lambda::Function' && /^Tools/.test(id)) ?? [];
  return name ?? '';
}
