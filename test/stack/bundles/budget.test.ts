import { globSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { expect, onTestFinished, test } from 'vitest';
import { ToolFunction } from '../../../lib/index.ts';
import { SERVER_FUNCTIONS, type ServerFunction, serverCode } from '../../../lib/server-code.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';

/**
 * Each kilobyte of a bundle is time of a cold start. `budget.json` has the size of each bundle in bytes: put the
 * new number there when a change is worth it, or makes the bundle smaller.
 */
const budgets: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'budget.json'), 'utf8'),
);

/** The problem of a size; undefined if it is at most 3 % over its budget, and at most 10 % below it. */
function complaint(name: string, size: number, budget: number): string | undefined {
  if (size > budget * 1.03) return `${name} has grown from ${budget} to ${size} bytes: what else is in it now?`;
  if (size < budget * 0.9) return `${name} has shrunk from ${budget} to ${size} bytes: lower its budget`;
  return undefined;
}

/** The files of the smallest tool, as they are deployed, by their sizes in bytes. */
function filesOfTool(): Record<string, number> {
  const outdir = temporaryDir();
  onTestFinished(() => rmSync(outdir, { recursive: true }));
  new ToolFunction(new Stack(new App({ outdir }), 'S'), 'Tool', { entry: 'functions/examples/greet.ts' });
  const files = globSync('asset.*/**/*.js', { cwd: outdir });
  return Object.fromEntries(files.map((file) => [basename(file), statSync(join(outdir, file)).size]));
}

test.each(Object.keys(SERVER_FUNCTIONS) as ServerFunction[])('the bundle of %s keeps to its budget', (name) => {
  for (const [path, { length }] of Object.entries(serverCode(name))) {
    const file = path === 'index.js' ? name : basename(path);
    expect(complaint(file, length, budgets[file] ?? 0)).toBeUndefined();
  }
});

test('the smallest tool keeps to 300 KB, and to its budget; S3 is apart, for what is large', () => {
  const { 'index.js': index = 0, 'dynamodb.js': dynamodb = 0, ...later } = filesOfTool();
  expect(complaint('greet', index, budgets.greet ?? 0)).toBeUndefined();
  expect(complaint('dynamodb.js', dynamodb, budgets['dynamodb.js'] ?? 0)).toBeUndefined();
  expect(index + dynamodb).toBeLessThan(300_000);
  const parts = serverCode('endpoint');
  const sizes = ['s3.js', 's3-files.js'].map((name) => [name, parts[`mcp-task-server-aws/${name}`]?.length]);
  expect(later).toEqual(Object.fromEntries(sizes));
});

test('a bundle over its budget by more than 3 %, or below it by more than 10 %, is a failure', () => {
  expect([970, 1_000, 1_030, 900].map((size) => complaint('b', size, 1_000))).toEqual(Array(4).fill(undefined));
  expect(complaint('b', 1_031, 1_000)).toContain('grown');
  expect(complaint('b', 899, 1_000)).toContain('lower');
  expect(complaint('b', 1, 0)).toContain('grown');
});
