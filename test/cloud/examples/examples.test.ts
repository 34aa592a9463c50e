import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { synthApp } from '../../../local/testing.ts';
import { useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { changeAssembly } from '../../support/change-assembly.ts';
import { ended, poll } from '../../support/clients.ts';
import { startSite } from './site.ts';

const [HOUR, DAY] = [3_600_000, 86_400_000];
const PAGES = 200;
const folder = temporaryDir();
let site: Awaited<ReturnType<typeof startSite>>;

/** bin/app.ts, with a site of this test. */
beforeAll(async () => {
  site = await startSite(PAGES, 1_000);
  vi.stubEnv('SITE_URL', site.url);
  await synthApp('bin/app.ts', folder);
  vi.unstubAllEnvs();
  // A run of crawl_site has the time for some of the pages. It ends by the clock of this machine.
  changeAssembly(
    folder,
    (path) => path.endsWith('.template.json'),
    (text) => text.replace('"Timeout": 900', '"Timeout": 12'),
  );
});
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true });
});
const { cloud, url, now, start, stored, runsOf, get, sweepAfter } = useCrashCloud({ assembly: folder });

const waits = (taskId: string) => expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
const outcome = async (taskId: string) => (await poll(url(), taskId, ended)).result.structuredContent;

test('nightly_report, called at 22:00, works through 200 customers and returns at 06:00', async () => {
  cloud().clock.advance(DAY - (now() % DAY) + 22 * HOUR);
  const taskId = await start('nightly_report');
  await waits(taskId);
  expect((await get(taskId)).statusMessage).toMatch(/^Sleeping until \S+T06:00:00Z$/);
  await sweepAfter(((await stored(taskId)).dueAt ?? 0) - now());
  expect(await outcome(taskId)).toMatchObject({ customers: 200 });
  expect(new Date((await stored(taskId)).updatedAt).toISOString()).toMatch(/T06:0/);
});

test('crawl_site fetches each page exactly once in several runs, as no run has the time for all', async () => {
  const taskId = await start('crawl_site');
  expect(await outcome(taskId)).toEqual({ pages: PAGES + 1, broken: [`${site.url}/gone: status 404`] });
  expect([...site.fetched.values()]).toEqual(Array(PAGES + 1).fill(1));
  expect(runsOf(taskId).length).toBeGreaterThan(1);
});
