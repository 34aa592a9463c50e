import { existsSync, mkdtempSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, inject } from 'vitest';
import { type Cloud, type CloudOptions, startCloud } from '../../local/cloud.ts';
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

/**
 * The assembly of another app, for the `assembly` of `useCloud`. All files of a run that use the app share it: a test that
 * changes it copies it first. @param app its path @param variables for the process of the app
 */
export function useAssembly(app: string, variables: Readonly<Record<string, string>> = {}): string {
  const folder = join(inject('assemblies'), [app, ...Object.values(variables)].join('-').replaceAll('/', '-'));
  beforeAll(async () => {
    if (existsSync(folder)) return;
    const own = mkdtempSync(`${folder}-`);
    Object.assign(process.env, variables);
    const done = synthApp(app, own);
    // Its process has started, with the environment of this moment.
    for (const name of Object.keys(variables)) delete process.env[name];
    await done;
    try {
      renameSync(own, folder);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error;
    }
  });
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
