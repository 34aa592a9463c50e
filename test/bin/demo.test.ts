import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';

const MOST_BYTES = 5_000;
const MOST_COLUMNS = 100;
/** What differs from run to run. */
const VARIES = /\d{4}-\d\d-\d\dT\S+|127\.0\.0\.1:\d+|signals\/[\w-]+…|PO-\w+/g;

let stdout = '';
let stderr = '';
let lines: string[] = [];

/** One run for all tests. */
beforeAll(async () => {
  ({ stdout, stderr } = await promisify(execFile)(process.execPath, ['bin/demo.ts']));
  lines = stdout.split('\n');
}, 300_000);

test('a run of the demo prints what clients see, in at most 5,000 bytes and 100 columns', () => {
  expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(MOST_BYTES);
  expect(lines.filter((line) => line.length > MOST_COLUMNS)).toEqual([]);
  // Four tasks, a question and its answer, three waits, four results. How many reports a poll sees depends on the machine.
  expect(lines.filter((line) => /^task \w{30,}$/.test(line))).toHaveLength(4);
  expect(stdout).toMatch(/^ {2}\? Who approves this purchase\?\n {2}> ann@example.com$/m);
  expect(lines.filter((line) => /^ {2}… (Waiting for|Sleeping until) /.test(line))).toHaveLength(3);
  expect(stdout).toMatch(/^ {2}… Sleeping until \S+T06:00:00Z$/m);
  for (const result of ['{"ordered":true,', '{"customers":200,', '{"model":', 'Best: ']) {
    expect(lines.filter((line) => line.startsWith(`  ${result}`))).toHaveLength(1);
  }
});

test('log lines of the functions are only in the file that its last line names', () => {
  expect(stderr).toBe('');
  expect(stdout).not.toMatch(/\{"(?:_aws|event)"/);
  const [, file = ''] = /^ {2}(\S+\.log) .*\n$/m.exec(stdout.slice(stdout.trimEnd().lastIndexOf('\n') + 1)) ?? [];
  expect(readFileSync(file, 'utf8')).toMatch(/\{"event":"audit","action":"finished".*\{"_aws":/s);
});

test('it ends with commands and pages that exist', () => {
  const next = stdout.split('Next:\n')[1] ?? '';
  const scripts = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts);
  expect(scripts).toContain(/^ {2}npm run (\w+)/m.exec(next)?.[1]);
  const files = [...next.matchAll(/^ {2}(\S+\.md) /gm)].map(([, file = '']) => file);
  expect(files).toEqual(['README.md', 'docs/long-work.md', 'docs/clients.md']);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

test('the README shows lines of its output', () => {
  const [, shown = ''] = /^```text\n\$ npm run demo\n(.*?)^```$/ms.exec(readFileSync('README.md', 'utf8')) ?? [];
  const excerpt = shown.trimEnd().split('\n');
  expect(excerpt.length).toBeGreaterThanOrEqual(9);
  const [all, some] = [lines, excerpt].map((of) => of.map((line) => line.replace(VARIES, '~')));
  expect(some?.filter((line) => !all?.includes(line))).toEqual([]);
});
