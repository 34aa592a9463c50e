import { cpSync, rmSync } from 'node:fs';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startCloud } from '../../../local/cloud.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { changeAssembly } from '../../support/change-assembly.ts';
import { fuzzCloud, type Kind } from './fuzz-cloud.ts';
import { testSeed } from './generate/random.ts';

/** Tasks with large results, and nothing else: each read of one would cost 59 units. */
const large: Kind = { calls: () => ({ name: 'big', arguments: { bytes: 240_000 } }), bound: () => 25_000 };
const REQUESTS = 200;

async function problemsIn(assembly: string): Promise<string> {
  const cloud = await startCloud({ assembly, recordCalls: true, schedules: false, onLog: () => {} });
  const { problems } = await fuzzCloud(cloud, testSeed, REQUESTS, large).finally(cloud.stop);
  return problems.join('\n');
}

test('no request on tasks with large results reads more than it may', async () => {
  expect(await problemsIn(inject('brief'))).not.toContain('units, and may read');
});

test('a workflow that writes large results into the record is found', async () => {
  const folder = temporaryDir();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(inject('brief'), folder, { recursive: true });
  // The bound of lib/workflow/store/fits.jsonata.
  const plant = (text: string) => text.replaceAll('<= 1500', '<= 1500000');
  changeAssembly(folder, (name) => /asset\.[0-9a-f]+\.json$/.test(name), plant);
  expect(await problemsIn(folder)).toContain('units, and may read');
});
