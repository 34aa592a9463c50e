import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { synthApp } from '../../local/testing.ts';
import { ROOT, readPage } from './pages.ts';
import { snippet, useFolder } from './snippets.ts';

const run = promisify(execFile);
const readme = readPage('README.md');
const TOOL = 'functions/split-bill.ts';
const HERE = 'http://127.0.0.1:3000';

test('a tool that asks takes less than 40 lines, from file to called', () => {
  const code = [TOOL, 'at the end of bin/app.ts', 'ask.mts'].map((about) => snippet(readme, about));
  const lines = code.map((text) => text.split('\n').filter((line) => line.trim() !== '').length);
  expect(lines[0]).toBeGreaterThan(15);
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThan(40);
});

test('it has at most 150 lines', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(150);
});

test('the excerpts of profile_dataset are what its file says', () => {
  const source = readFileSync(join(ROOT, 'functions/examples/profile-dataset.ts'), 'utf8');
  const excerpts = snippet(
    readPage('docs/writing-tools.md'),
    'excerpts of functions/examples/profile-dataset.ts',
  ).split('// …\n');
  expect(excerpts.length).toBeGreaterThan(2);
  for (const excerpt of excerpts) expect(source).toContain(excerpt);
});

describe('on the embedded cloud', () => {
  const folder = useFolder();
  let cloud: Cloud;
  const url = () => cloud.url;

  /** bin/app.ts with the edits of the README, with other paths. */
  beforeAll(async () => {
    folder.write(TOOL, snippet(readme, TOOL));
    const edited = readPage('bin/app.ts')
      .replaceAll("'../", "'../../")
      .concat(snippet(readme, 'at the end of bin/app.ts'));
    const app = folder.write('bin/app.ts', edited.replace(`'${TOOL}'`, `'${relative(ROOT, folder.path)}/${TOOL}'`));
    await synthApp(app, join(folder.path, 'out'));
    cloud = await startCloud({ assembly: join(folder.path, 'out'), onLog: () => {} });
  });
  afterAll(() => cloud?.stop());

  test('the tool of the README asks the official client, and answers', async () => {
    const file = folder.write('ask.mts', snippet(readme, 'ask.mts').replace(HERE, url()));
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout).toMatch(/^How many people, and what tip in percent\?$/m);
    expect(stdout).toContain('structuredContent: { each: 27.5 }');
  });

  test('the program of docs/clients.md calls a tool, and resumes its task by the id', async () => {
    const file = folder.write('resume.ts', snippet(readPage('docs/clients.md'), 'resume.ts').replace(HERE, url()));
    const [called, resumed] = [
      await run(process.execPath, [file], { cwd: folder.path }),
      await run(process.execPath, [file, 'resume'], { cwd: folder.path }),
    ].map(({ stdout }) => stdout.trim().split('\n').at(-1));
    expect(called).toMatch(/^false Profile of /);
    expect(resumed).toBe(called);
  });

  const noCurl = spawnSync('bash', ['-c', 'curl --version']).status !== 0;
  test.skipIf(noCurl)('the curl lines answer profile_dataset in two rounds of questions', async () => {
    const [, script = ''] = /^```sh\n(rpc\(\) .*?)^```$/ms.exec(readPage('docs/clients.md')) ?? [];
    const [functions = '', lines = ''] = script.replace(HERE, url()).split('\n\n');
    const [call, , ...rest] = lines.trim().split('\n');
    const bash = async (line: string, ID = '') =>
      (await run('bash', ['-c', `${functions}\n${line}`], { env: { ...process.env, ID } })).stdout;
    /** A line that gets the task is repeated while the task is working. */
    const settled = async (line: string, id: string) => {
      let answer = await bash(line, id);
      while (line.startsWith('task get') && answer.includes('"status":"working"')) {
        await sleep(200);
        answer = await bash(line, id);
      }
      return JSON.parse(answer).result;
    };

    const { taskId } = JSON.parse(await bash(call ?? '')).result;
    const results = [];
    for (const line of rest) results.push(await settled(line, taskId));
    expect(results).toHaveLength(5);
    expect(Object.keys(results[0].inputRequests)).toEqual(['r1.columns']);
    expect(Object.keys(results[2].inputRequests)).toEqual(['r2.appendix']);
    expect(results[4].status).toBe('completed');
    const { content, structuredContent } = results[4].result;
    expect(structuredContent).toMatchObject({ rows: 1_000, columns: [{ name: 'country' }, { name: 'total' }] });
    expect(content[0].text.split('\n')).toHaveLength(3 + structuredContent.outliers);
  });
});
