import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { type DefinedTool, type RunOptions, runTool, type ToolEvent } from '../../functions/tool/index.ts';

/** Inside the package, whose name the snippets import; git and the linter leave such folders alone. */
const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(ROOT, 'cdk.out.docs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const page = readFileSync(join(ROOT, 'docs/writing-tools.md'), 'utf8');
const snippets = [...page.matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms)].map(([, path = '', code = '']) => ({
  path,
  code,
}));
for (const { path, code } of snippets) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), code);
}

const toolOf = async (path: string) => {
  const module = (await import(join(folder, path))) as { handler: DefinedTool<Record<string, unknown>> };
  return module.handler;
};
const run = async (path: string, args: Record<string, unknown>, options?: RunOptions) =>
  (await runTool(await toolOf(path), args, options)).result;

test('each snippet says where it goes, and all of them compile', () => {
  expect(page.match(/^```ts$/gm)).toHaveLength(snippets.length);
  const config = { extends: '../tsconfig.json', include: ['**/*.ts'], exclude: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '--noEmit', '-p', folder], { encoding: 'utf8' });
  } catch (error) {
    expect.fail((error as { stdout: string }).stdout);
  }
});

test('a tool from file to registered takes less than 40 lines', () => {
  const lines = (name: string) =>
    snippets
      .find(({ path }) => path === name)
      ?.code.trimEnd()
      .split('\n') ?? [];
  const registration = lines('app.ts').join('\n').split('server.addTool')[1]?.split('\n') ?? [];
  expect(lines('functions/top-words.ts').length + registration.length + 1).toBeLessThan(40);
});

test('top_words', async () => {
  const answers = { skip: { action: 'accept', content: { words: ['the', 'and'] } } };
  const text = 'the cat and the dog and the fox';
  expect(await run('functions/top-words.ts', { text }, { answers })).toEqual({ words: ['cat', 'dog', 'fox'] });
  const decline = { answers: { skip: { action: 'decline' } } };
  expect(await run('functions/top-words.ts', { text, most: 2 }, decline)).toEqual({ words: ['the', 'and'] });
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
  expect(posted.mock.calls.map(([, { body }]) => body)).toEqual(
    args.customers.map((customer) => JSON.stringify({ customer, due: '2027-03-05T00:00:00.000Z' })),
  );
  expect(await run('functions/bill-customers.ts', { ...args, due: '2027-03-06' })).toMatchObject({ isError: true });
  vi.unstubAllGlobals();
});

test('count_words', async () => {
  const handler = (await toolOf('functions/count-words.ts')) as unknown as (
    event: Partial<ToolEvent>,
  ) => Promise<unknown>;
  expect(await handler({ arguments: { text: 'one two' } })).toEqual({ words: 2 });
});
