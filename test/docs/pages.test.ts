import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { pages, ROOT, readPage, rowsOf } from './pages.ts';
import { snippetsOf } from './snippets.ts';

/** The anchor that GitHub makes of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (page: string): string[] =>
  [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));

test.each(pages())('every link of %s leads to a file, and to a heading in it', (page) => {
  const links = [...readPage(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  for (const link of links.filter((one) => !/^https?:/.test(one))) {
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    expect(existsSync(join(ROOT, file)), link).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(file), link).toContain(anchor);
  }
});

const ARCHITECTURE = ['README', 'tasks', 'workflows', 'requests'].map((name) => `docs/architecture/${name}.md`);

test.each([...ARCHITECTURE, 'docs/crash-table.md', 'CONTRIBUTING.md'])('every path in %s is there', (page) => {
  const code = [...readPage(page).matchAll(/`((?:bin|docs|functions|lib|local|test|\.ci)\/[\w./-]+)`/g)];
  expect(code.length).toBeGreaterThan(5);
  for (const [, path = ''] of code) expect(existsSync(join(ROOT, path)), path).toBe(true);
});

test.each(pages())('no line of %s has more than 160 characters, but for tables and code', (page) => {
  const long = readPage(page)
    .replace(/```[\s\S]*?```/g, '')
    .split('\n')
    .filter((line) => line.length > 160 && !line.startsWith('|'));
  expect(long).toEqual([]);
});

test('every example of CONTRIBUTING.md is in its file', () => {
  const examples = snippetsOf(readPage('CONTRIBUTING.md'));
  expect(examples).toHaveLength(10);
  for (const { about, code } of examples) expect(readPage(about), about).toContain(code);
});

test('every page and heading that a comment cites is there', () => {
  const files = globSync('{bin,functions,lib,local,test}/**/*.{ts,jsonata}', {
    cwd: ROOT,
    exclude: ['**/node_modules'],
  });
  const cited = files.flatMap((file) => {
    const text = readPage(file).replace(/\s*\n\s*(?:\*|\/\/)\s*/g, ' ');
    return [...text.matchAll(/\b(docs\/[\w/-]+\.md)(?:, "([^"]+)")?/g)].map(([, page = '', heading]) => ({
      file,
      page,
      heading,
    }));
  });
  expect(cited.length).toBeGreaterThan(20);
  for (const { file, page, heading } of cited) {
    expect(existsSync(join(ROOT, page)), `${file}: ${page}`).toBe(true);
    if (heading !== undefined) expect(anchorsOf(page), `${file}: ${page}`).toContain(anchorOf(heading));
  }
});

test('the map in docs/architecture has every folder, in one line each', () => {
  const [, map = ''] = readPage('docs/architecture/README.md').split('\n## Folders\n');
  const lines = rowsOf(map).flatMap(([cell = '']) => /^`(.*)`$/.exec(cell)?.[1] ?? []);
  expect(lines).toEqual([...new Set(lines)]);
  const found = globSync('{bin,docs,functions,lib,local,test}/**/*.{ts,md,json,jsonata,py,go}', { cwd: ROOT });
  const folders = [...new Set(found.map((file) => dirname(file)))].filter((one) => !/node_modules|\/\./.test(one));
  const covers = (line: string, folder: string) =>
    line === folder || (line.endsWith('/*') && folder.startsWith(line.slice(0, -1)));
  expect(folders.filter((folder) => !lines.some((line) => covers(line, folder)))).toEqual([]);
  expect(lines.filter((line) => !folders.some((folder) => covers(line, folder)))).toEqual([]);
});
