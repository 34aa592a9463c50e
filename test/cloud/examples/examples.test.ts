import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startOtherSystems } from '../../../bin/demo/other-systems.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';
import { synthApp } from '../../../local/testing.ts';
import { useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, poll } from '../../support/clients.ts';
import { lowerTimeout, startSite } from './site.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
/** `CRAWL_PAGES=2600` takes more than twelve runs. */
const PAGES = Number(process.env.CRAWL_PAGES ?? 200);
const folder = temporaryDir();
let others: Awaited<ReturnType<typeof startOtherSystems>>;
let site: Awaited<ReturnType<typeof startSite>>;

/** bin/app.ts, with other systems that this test plays. */
beforeAll(async () => {
  others = await startOtherSystems();
  site = await startSite(PAGES, 1_000);
  for (const [name, value] of Object.entries({ ...others.env, SITE_URL: site.url })) vi.stubEnv(name, value);
  await synthApp('bin/app.ts', folder);
  vi.unstubAllEnvs();
  lowerTimeout(folder, 12);
});
afterAll(async () => {
  await Promise.all([others.stop(), site.stop()]);
  rmSync(folder, { recursive: true });
});
const { cloud, url, now, start, stored, runsOf, get, sweepAfter } = useCrashCloud({ assembly: folder });

const waits = (taskId: string) => expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
const outcome = async (taskId: string) => (await poll(url(), taskId, ended)).result.structuredContent;

/** Starts `approve_purchase`. Returns the id of the task, and the link of the mail. */
async function purchase() {
  const mailed = others.next('/mail');
  const taskId = await start('approve_purchase', { item: 'a desk', euros: 420, approver: 'ann@example.com' });
  const { to, text = '' } = await mailed;
  expect(to).toBe('ann@example.com');
  await waits(taskId);
  return { taskId, link: text.split(' ').at(-1) ?? '' };
}

test('approve_purchase orders when a person answers by the link, almost two days later', async () => {
  const { taskId, link } = await purchase();
  expect((await get(taskId)).statusMessage).toMatch(/^Waiting for approval until /);
  await sweepAfter(2 * DAY - HOUR);
  const page = await (await fetch(link)).text();
  expect(page).toContain('Buy a desk for 420 euros?');
  await waits(taskId);
  const answer = await fetch(link, {
    method: 'POST',
    body: new URLSearchParams({ f0: 'Fine', by: 'Ann', action: 'accept' }),
  });
  expect(answer.status).toBe(200);
  expect(await outcome(taskId)).toMatchObject({ ordered: true, by: 'Ann', note: 'Fine' });
});

test('approve_purchase orders nothing when two days are over, and the link is over, too', async () => {
  const { taskId, link } = await purchase();
  await sweepAfter(2 * DAY + MINUTE);
  expect(await outcome(taskId)).toMatchObject({ ordered: false, reason: /did not answer within two days/ });
  expect((await fetch(link, { method: 'POST', body: new URLSearchParams({ action: 'accept' }) })).status).toBe(410);
});

test('train_model waits almost six hours until the other system calls back', async () => {
  const job = others.next('/jobs');
  const taskId = await start('train_model', { dataset: 'orders' });
  const { callback = '' } = await job;
  await waits(taskId);
  await sweepAfter(6 * HOUR - MINUTE);
  const post = (body: unknown) =>
    fetch(callback, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  expect((await post({ model: 'm' })).status).toBe(422);
  expect((await post({ model: 'm', accuracy: 0.93 })).ok).toBe(true);
  expect(await outcome(taskId)).toEqual({ model: 'm', accuracy: 0.93, goodEnough: true });
});

test('render_film returns a link to the film, which takes ranges', async () => {
  const taskId = await start('render_film', { title: 'Rain', megabytes: 12 });
  const { content } = (await poll(url(), taskId, ended)).result;
  expect(content).toMatchObject([{ text: '“Rain” is rendered.' }, { type: 'resource_link', size: 12_000_000 }]);
  const film = await fetch(content[1].uri, { headers: { range: 'bytes=11000000-11000003' } });
  expect([film.status, Buffer.from(await film.arrayBuffer()).readUInt32BE()]).toEqual([206, 11]);
});

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
  const all = site.reached(PAGES + 1);
  const taskId = await start('crawl_site');
  await all;
  const task = await poll(url(), taskId, ended, 1_000);
  expect(task).toMatchObject({ status: 'completed' });
  const { structuredContent } = task.result;
  expect(structuredContent).toEqual({ pages: PAGES + 1, broken: [`${site.url}/gone: status 404`] });
  expect([...site.fetched.values()]).toEqual(Array(PAGES + 1).fill(1));
  console.log(`${PAGES} pages in ${runsOf(taskId).length} runs`);
  expect(runsOf(taskId).length).toBeGreaterThan(1);
});
