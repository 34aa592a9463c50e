import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { synthApp } from '../../../local/testing.ts';
import { ended, modernRequest, poll } from '../../support/clients.ts';
import { killAll, startProcess } from '../kills/process.ts';
import { lowerTimeout, startSite } from './site.ts';

/** `CRAWL_KILLS=10 npx vitest run test/cloud/examples/crawl-kills.test.ts` kills it ten times. */
const KILLS = Number(process.env.CRAWL_KILLS ?? 1);
/** How long a page takes, in ms, and a client waits between two polls: the server refuses a client that polls more often. */
const SECOND = 1_000;
/** In seconds. A run begins nothing in its last quarter, so a page has five seconds to end, also on a busy machine. */
const TIMEOUT = 20;
/** More pages than a run begins: 20 at once. */
const RUN = 320;
/**
 * Pages from one kill to the next. A round is tried again after two crashes, not after a third (docs/architecture/workflows.md): each
 * second kill comes after more than a run, so the round of the kill before has ended. Two at least: the home page is not lost.
 */
const gaps = Array.from({ length: KILLS }, (_, n) => (n % 2 === 1 ? RUN : 0) + 2 + Math.floor(Math.random() * 100));
/** Each kill comes later by what its run still begins. */
const PAGES = gaps.reduce((sum, gap) => sum + gap, 0) + 30 * KILLS;
const folder = temporaryDir();
let site: Awaited<ReturnType<typeof startSite>>;
beforeAll(async () => {
  // Its home page links to all others: the page that a kill loses hides none.
  site = await startSite(PAGES, SECOND, PAGES);
  vi.stubEnv('SITE_URL', site.url);
  await synthApp('bin/app.ts', join(folder, 'assembly'));
  vi.unstubAllEnvs();
  lowerTimeout(join(folder, 'assembly'), TIMEOUT);
});
afterAll(async () => {
  killAll();
  await site.stop();
  rmSync(folder, { recursive: true });
});

test('crawl_site fetches no page twice, whenever its cloud is killed with -9', async () => {
  const start = () =>
    startProcess('bin/local.ts', '--port', '0', '--data', join(folder, 'data'), '--assembly', join(folder, 'assembly'));
  console.log(`Pages from one kill to the next: ${gaps.join(' ')}`);
  let cloud = await start();
  const { body } = await modernRequest(cloud.url, 'tools/call', { name: 'crawl_site', arguments: {} });
  const { taskId } = body.result;
  for (const gap of gaps) {
    const over = await Promise.race([site.reached(site.fetched.size + gap), poll(cloud.url, taskId, ended, SECOND)]);
    expect(over, 'the task ended before its cloud was killed').toBeUndefined();
    // Within the time of a page: while pages begin, while they are under way, and between two rounds.
    await sleep(Math.random() * 900);
    await cloud.kill();
    cloud = await start();
  }
  const task = await poll(cloud.url, taskId, ended, SECOND);
  expect(task).toMatchObject({ status: 'completed' });
  const { pages, broken } = task.result.structuredContent;
  expect(pages).toBe(PAGES + 1);
  expect([...site.fetched.values()].filter((times) => times !== 1)).toEqual([]);
  const lost = broken.filter((line: string) => line.endsWith('a run died when it fetched it'));
  console.log(`${lost.length} pages were under way`);
  // A kill may also hit the page that is not there: its fetch is then lost, too.
  const others = broken.filter((line: string) => !lost.includes(line));
  expect(lost.concat(others).filter((line: string) => line.startsWith(`${site.url}/gone: `))).toHaveLength(1);
  expect(others.length).toBeLessThanOrEqual(1);
  expect(lost.length).toBeLessThanOrEqual(KILLS * 20);
});
