import { execFile, spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
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
/** The link of `approve_purchase`, in what it logs without a mail service. */
const MAILED = /within two days: (http\S+?)["\s]/;

test('a tool that asks takes less than 40 lines, from file to called', () => {
  const code = [TOOL, 'at the end of bin/app.ts', 'ask.mts'].map((about) => snippet(readme, about));
  const lines = code.map((text) => text.split('\n').filter((line) => line.trim() !== '').length);
  expect(lines[0]).toBeGreaterThan(15);
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThan(40);
});

test('it has at most 150 lines', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(150);
});

describe('on the embedded cloud', () => {
  const folder = useFolder();
  let cloud: Cloud;
  const logged: string[] = [];
  const url = () => cloud.url;

  /** bin/app.ts with the edits of the README, with other paths. */
  beforeAll(async () => {
    folder.write(TOOL, snippet(readme, TOOL));
    const edited = readPage('bin/app.ts')
      .replaceAll("'../", "'../../")
      .concat(snippet(readme, 'at the end of bin/app.ts'));
    const app = folder.write('bin/app.ts', edited.replace(`'${TOOL}'`, `'${relative(ROOT, folder.path)}/${TOOL}'`));
    await synthApp(app, join(folder.path, 'out'));
    cloud = await startCloud({
      assembly: join(folder.path, 'out'),
      onLog: (_source, line) => void logged.push(`${line}\n`),
    });
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
    expect(called).toMatch(/^false eu-west-1: /);
    expect(resumed).toBe(called);
  });

  const noCurl = spawnSync('bash', ['-c', 'curl --version']).status !== 0;
  test.skipIf(noCurl)('the curl lines answer the question of approve_purchase, and its link', async () => {
    const [, script = ''] = /^```sh\n(rpc\(\) .*?)^```$/ms.exec(readPage('docs/clients.md')) ?? [];
    const [functions = '', lines = ''] = script.replace(HERE, url()).split('\n\n');
    const [call, , ...rest] = lines.trim().split('\n');
    const bash = async (line: string, env: Readonly<Record<string, string | undefined>> = {}) =>
      (await run('bash', ['-c', `${functions}\n${line}`], { env: { ...process.env, ...env } })).stdout;
    const { taskId: ID } = JSON.parse(await bash(call ?? '')).result;
    const get = async () => JSON.parse(await bash('task get', { ID })).result;
    let LINK: string | undefined;
    for (const line of rest) {
      if (line.startsWith('LINK=')) {
        await expect.poll(() => logged.join('\n')).toMatch(MAILED);
        LINK = MAILED.exec(logged.join('\n'))?.[1];
      } else if (line.startsWith('task get')) {
        // A line that gets the task is repeated until it is as its comment says.
        await expect.poll(async () => (await get()).status).toBe(/# (\w+)/.exec(line)?.[1]);
      } else await bash(line, { ID, LINK });
    }
    expect((await get()).result.structuredContent).toMatchObject({ ordered: true });
  });
});
