import { fsync, fsyncSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { Integration, IntegrationCall } from '../../../step-functions/index.ts';
import { single, until } from '../support.ts';
import { call, useJournal } from './journalled.ts';

// The replaced modules may already be loaded: test files share a process.
vi.hoisted(() => vi.resetModules());

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return { ...fs, fsync: vi.fn(fs.fsync), fsyncSync: vi.fn(fs.fsyncSync) };
});

const journal = useJournal();

const counted = () => vi.mocked(fsync).mock.calls.length + vi.mocked(fsyncSync).mock.calls.length;

/** Counts waits for the disk: at the start of the engine, and between its start and the end of one call. */
async function syncs(integration: Integration): Promise<number> {
  vi.mocked(fsync).mockClear();
  vi.mocked(fsyncSync).mockClear();
  const local = await journal.open(single(call({ End: true })), { task: integration });
  const atStart = counted();
  expect(atStart).toBeGreaterThan(0);
  await local.start({}, 'a');
  await until(() => local.engine.executions()[0]?.status === 'SUCCEEDED');
  const during = counted() - atStart;
  await local.engine.stop();
  return during;
}

test("a function's start is on disk before it runs: a power cut does not run it twice", async () => {
  const order: string[] = [];
  const run = async ({ begins }: IntegrationCall) => {
    // Lambda does the same before it passes the event to a worker.
    await begins();
    order.push('runs');
    return null;
  };
  const { fsync: real } = await vi.importActual<typeof import('node:fs')>('node:fs');
  vi.mocked(fsync).mockImplementationOnce((fd, done) =>
    real(fd, (error) => {
      order.push('on disk');
      done(error);
    }),
  );
  expect(await syncs(Object.assign(run, { waits: true } as const))).toBe(1);
  expect(order).toEqual(['on disk', 'runs']);
});

test('the starts of many functions at once share a sync', async () => {
  let begun = 0;
  const all = Promise.withResolvers<void>();
  const { fsync: real } = await vi.importActual<typeof import('node:fs')>('node:fs');
  const engine = await journal.open(single(call({ End: true })), {
    task: Object.assign(
      async ({ begins }: IntegrationCall) => {
        const synced = begins();
        if (++begun === 20) all.resolve();
        await synced;
        return null;
      },
      { waits: true } as const,
    ),
  });
  vi.mocked(fsync).mockClear();
  // A slow disk: the first sync takes until all functions are about to begin.
  vi.mocked(fsync).mockImplementationOnce((fd, done) => void all.promise.then(() => real(fd, done)));
  for (let index = 0; index < 20; index++) await engine.start({}, `many-${index}`);
  await until(() => engine.engine.executions().every(({ status }) => status === 'SUCCEEDED'));
  expect(vi.mocked(fsync)).toHaveBeenCalledTimes(2);
  await engine.engine.stop();
});

test('a call that may be made again waits for no disk', async () => {
  expect(await syncs(async () => null)).toBe(0);
});
