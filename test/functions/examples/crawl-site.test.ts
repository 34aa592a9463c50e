import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/examples/crawl-site.ts';
import { runTool } from '../../../functions/tool/testing.ts';
import { startSite } from '../../cloud/examples/site.ts';

let site: Awaited<ReturnType<typeof startSite>>;
beforeAll(async () => {
  site = await startSite(50);
  vi.stubEnv('SITE_URL', site.url);
});
afterEach(() => site.fetched.clear());
afterAll(async () => {
  vi.unstubAllEnvs();
  await site.stop();
});

test('fetches each page of the site once, and names the links that lead to no page', async () => {
  const { result } = await runTool(handler, {});
  expect(result).toEqual({ pages: 51, broken: [`${site.url}/gone: status 404`] });
  expect([...site.fetched.values()]).toEqual(Array(51).fill(1));
});

test('fetches no more pages than it may', async () => {
  expect((await runTool(handler, { most: 7 })).result).toMatchObject({ pages: 7 });
  expect(site.fetched.size).toBe(7);
});

test('a site that does not answer is a broken link', async () => {
  vi.stubEnv('SITE_URL', 'http://127.0.0.1:9');
  expect((await runTool(handler, {})).result).toEqual({ pages: 1, broken: ['http://127.0.0.1:9/: no answer'] });
  vi.stubEnv('SITE_URL', site.url);
});
