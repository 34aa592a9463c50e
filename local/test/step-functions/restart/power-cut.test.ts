import { fsyncSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { Integration, IntegrationCall } from '../../../step-functions/index.ts';
import { single, until } from '../support.ts';
import { call, useJournal } from './journalled.ts';

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return { ...fs, fsyncSync: vi.fn(fs.fsyncSync) };
});

const journal = useJournal();

/** How often the disk was waited for: at the start of the engine, and between its start and the end of one call. */
async function syncs(integration: Integration): Promise<number> {
  vi.mocked(fsyncSync).mockClear();
  const local = await journal.open(single(call({ End: true })), { task: integration });
  const atStart = vi.mocked(fsyncSync).mock.calls.length;
  expect(atStart).toBeGreaterThan(0);
  await local.start({}, 'a');
  await until(() => local.engine.executions()[0]?.status === 'SUCCEEDED');
  const during = vi.mocked(fsyncSync).mock.calls.length - atStart;
  await local.engine.stop();
  return during;
}

test("a function's start is on disk before it runs: a power cut does not run it twice", async () => {
  let before = 0;
  const run = async ({ begins }: IntegrationCall) => {
    const until = vi.mocked(fsyncSync).mock.calls.length;
    begins();
    before = vi.mocked(fsyncSync).mock.calls.length - until;
    return null;
  };
  expect(await syncs(Object.assign(run, { waits: true } as const))).toBe(1);
  expect(before).toBe(1);
});

test('a call that may be made again waits for no disk', async () => {
  expect(await syncs(async () => null)).toBe(0);
});
