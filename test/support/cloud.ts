import { afterAll, beforeAll, inject } from 'vitest';
import { type Cloud, startCloud } from '../../local/cloud.ts';

/** An embedded cloud of the test app for one test file. */
export function useCloud(options: Partial<Parameters<typeof startCloud>[0]> = {}): () => Cloud {
  let cloud: Cloud | undefined;
  beforeAll(async () => {
    cloud = await startCloud({ assembly: inject('assembly'), recordCalls: true, onLog: () => {}, ...options });
  });
  afterAll(() => cloud?.stop());
  return () => {
    if (cloud === undefined) throw new Error('The cloud is not up yet');
    return cloud;
  };
}
