import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { DefinedTool, ToolEvent } from '../../functions/tool/index.ts';
import { type RunOptions, runTool } from '../../functions/tool/testing.ts';
import { ROOT, readPage } from './pages.ts';
import { snippet, snippetsOf, useFolder } from './snippets.ts';

const folder = useFolder();
const readme = readPage('README.md');
const files = [
  { about: 'functions/split-bill.ts', code: snippet(readme, 'functions/split-bill.ts') },
  { about: 'ask.mts', code: snippet(readme, 'ask.mts') },
  ...['docs/writing-tools.md', 'docs/long-work.md'].flatMap((page) => snippetsOf(readPage(page))),
];
for (const { about, code } of files) folder.write(about, code);

const toolOf = async (path: string) => {
  const module = (await import(join(folder.path, path))) as { handler: DefinedTool<Record<string, unknown>> };
  return module.handler;
};
const run = async (path: string, args: Record<string, unknown>, options?: RunOptions) =>
  (await runTool(await toolOf(path), args, options)).result;
const node = (script: string, ...args: string[]) => {
  try {
    execFileSync(process.execPath, [join(ROOT, 'node_modules', script), ...args], { cwd: ROOT, encoding: 'utf8' });
  } catch (error) {
    expect.fail((error as { stdout: string }).stdout);
  }
};

test('each snippet says where it goes, and all of them compile', () => {
  expect(files.map(({ about }) => about).filter((about) => !/^\S+\.m?ts$/.test(about))).toEqual([]);
  const config = { extends: '../tsconfig.json', include: ['**/*.ts', '**/*.mts'], exclude: [] };
  folder.write('tsconfig.json', JSON.stringify(config));
  node('typescript/bin/tsc', '--noEmit', '-p', folder.path);
});

test('the tests of tools pass', () => {
  const config = folder.write('vitest.config.js', 'export default { test: { include: ["test/**/*.test.ts"] } }');
  node('vitest/vitest.mjs', 'run', '--root', folder.path, '--config', config);
});

test('split_bill', async () => {
  const answers = { table: { action: 'accept', content: { people: 3, tip: 0 } } };
  expect(await run('functions/split-bill.ts', { total: 100 }, { answers })).toEqual({ each: 33.34 });
  const decline = { answers: { table: { action: 'decline' } } };
  expect(await run('functions/split-bill.ts', { total: 100 }, decline)).toBe('The bill was not split.');
});

test('summarize', async () => {
  const summary = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Short.' } };
  expect(await run('functions/summarize.ts', { text: 'Long' }, { answers: { summary } })).toBe('Short.');
  expect(await run('functions/summarize.ts', { text: 'Long' }, { accepts: [] })).toBe('Long …');
});

test('bill_customers', async () => {
  const posted = vi.fn(async (_url: string, _init: RequestInit) => new Response());
  vi.stubGlobal('fetch', posted);
  const answers = { confirm: { action: 'accept', content: { ok: true } } };
  const args = { customers: ['Ada', 'Bob'], due: '2027-03-05' };
  expect(await run('functions/bill-customers.ts', args, { answers })).toEqual({ billed: 2 });
  expect(posted.mock.calls.map(([, { body, headers }]) => [body, headers])).toEqual(
    args.customers.map((customer) => [
      JSON.stringify({ customer, due: '2027-03-05T00:00:00.000Z' }),
      { 'idempotency-key': `test ${customer}` },
    ]),
  );
  expect(await run('functions/bill-customers.ts', { ...args, due: '2027-03-06' })).toMatchObject({ isError: true });
  vi.unstubAllGlobals();
});

test('pay_invoice', async () => {
  const paid = vi.fn(async (_url: string) => new Response('receipt 7'));
  vi.stubGlobal('fetch', paid);
  expect(await run('functions/pay-invoice.ts', { invoice: 'A 1' })).toBe('Paid: receipt 7');
  paid.mockRejectedValue(new TypeError('fetch failed'));
  await expect(run('functions/pay-invoice.ts', { invoice: 'A 1' })).rejects.toThrow('fetch failed');
  expect(paid.mock.calls).toEqual(Array(2).fill(['https://bank.example/pay/A%201', { method: 'POST' }]));
  vi.unstubAllGlobals();
});

test('publish_post', async () => {
  const signals = { approval: { action: 'decline', by: 'Ann' } } as const;
  expect(await run('functions/publish-post.ts', { post: 'Rain' }, { signals })).toBe('Not published: Ann declined.');
});

test('render_film', async () => {
  const posted = vi.fn(async (_url: string, _init: RequestInit) => new Response());
  vi.stubGlobal('fetch', posted);
  const signals = { rendered: { body: { file: 'a.mp4' } } };
  const options = { signals, crashAfter: 'start' };
  expect(await run('functions/render-film.ts', { film: 'A' }, options)).toEqual({ film: 'A', file: 'a.mp4' });
  expect(posted.mock.calls.map(([, { body }]) => JSON.parse(String(body)))).toEqual([
    { film: 'A', callback: expect.stringMatching(/^https:/) },
  ]);
  const late = await run('functions/render-film.ts', { film: 'A' }, { signals: { rendered: 'timeout' } });
  expect(late).toMatchObject({ isError: true });
  vi.unstubAllGlobals();
});

test('wait_for_build', async () => {
  const asked = vi.fn(async () => new Response('app.zip')).mockResolvedValueOnce(new Response(null, { status: 404 }));
  vi.stubGlobal('fetch', asked);
  expect(await run('functions/wait-for-build.ts', { build: '7' })).toBe('Build 7 made app.zip.');
  expect(asked).toHaveBeenCalledTimes(2);
  asked.mockImplementation(async () => new Response(null, { status: 404 }));
  expect(await run('functions/wait-for-build.ts', { build: '7' })).toBe('Build 7 did not end within six hours.');
  vi.unstubAllGlobals();
});

test('remind', async () => {
  const sent = vi.spyOn(console, 'log').mockImplementation(() => {});
  const at = new Date(Date.now() + 86_400_000).toISOString();
  const { result, rounds } = await runTool(await toolOf('functions/remind.ts'), { text: 'Tea', at });
  expect([result, rounds, sent.mock.calls]).toEqual([`Reminded at ${at}.`, 2, [['Tea']]]);
  sent.mockRestore();
});

test('check_links', async () => {
  vi.stubGlobal('fetch', async (link: string) => new Response(null, { status: link === 'b' ? 404 : 200 }));
  expect(await run('functions/check-links.ts', { links: ['a', 'b', 'c'] })).toEqual({ broken: ['b'] });
  vi.unstubAllGlobals();
});

test('count_words', async () => {
  const handler = (await toolOf('functions/count-words.ts')) as unknown as (
    event: Partial<ToolEvent>,
  ) => Promise<unknown>;
  expect(await handler({ arguments: { text: 'one two' } })).toEqual({ words: 2 });
});
