import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { BundlingOptions } from 'aws-cdk-lib/aws-lambda-nodejs';
import { afterAll, expect, test } from 'vitest';
import { ToolFunction } from '../../../lib/index.ts';

const MARK = 'mcp-task-server:source';
const outdir = mkdtempSync(join(tmpdir(), 'mcp-test-tool-bundling-'));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

/** The function in the template, of an app that `dev` runs or of another app. */
function functionOf(dev: boolean, bundling: BundlingOptions = {}) {
  const app = new App({ context: dev ? { 'mcp-task-server:dev': true } : { 'aws:cdk:bundling-stacks': [] } });
  const stack = new Stack(app, 'S');
  new ToolFunction(stack, 'Tool', { entry: 'functions/examples/greet.ts', bundling });
  const [found] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
  return found;
}

test('a deployed template names no file of this machine', () => {
  expect(functionOf(false)?.Metadata?.[MARK]).toBeUndefined();
});

test('dev gets the file, and the options of esbuild that equal the bundling', () => {
  const { Metadata, Properties } =
    functionOf(true, { define: { A: '1' }, externalModules: ['x'], banner: '/**/', loader: { '.gz': 'binary' } }) ?? {};
  expect(Metadata?.[MARK]).toEqual({
    entry: expect.stringMatching(/\/functions\/examples\/greet\.ts$/),
    options: {
      ...{ minify: true, loader: { '.gz': 'binary' }, define: { A: '1' }, mainFields: ['module', 'main'] },
      ...{ target: 'node24', banner: { js: '/**/' }, format: 'cjs' },
      ...{ external: ['x', expect.stringMatching(/\/mcp-task-server\/\*$/)] },
      alias: { '#mcp-task-server': expect.stringMatching(/\/mcp-task-server$/) },
      supported: { 'dynamic-import': false },
    },
  });
  expect(Properties?.Handler).toBe('index.handler');
});

/** The files of the function's code, by name. */
function codeOf(bundling: BundlingOptions): Record<string, string> {
  const app = new App({ outdir: join(outdir, `of${JSON.stringify(bundling).replace(/\W/g, '')}`) });
  const stack = new Stack(app, 'S');
  new ToolFunction(stack, 'Tool', { entry: 'functions/examples/greet.ts', bundling });
  const { directory } = app.synth();
  const folder = readdirSync(directory).find((name) => /^asset\.[0-9a-f]+$/.test(name)) ?? '';
  const names = globSync('**/*.{js,map}', { cwd: join(directory, folder) }).sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, folder, name), 'utf8')]));
}

test("the code equals CDK's bundling, with its source map, and AWS clients beside it", () => {
  const built = codeOf({});
  const clients = Object.entries(built).filter(([name]) => name.startsWith('mcp-task-server-aws/'));
  const own = Object.fromEntries(Object.entries(built).filter((file) => !clients.some(([name]) => name === file[0])));
  // An option that only CDK knows, and what leaves the clients out.
  const apart = {
    '--alias:#mcp-task-server': './mcp-task-server-aws',
    '--external:./mcp-task-server-aws/*': true,
  } as const;
  const cdks = codeOf({ esbuildArgs: { '--log-limit': '1', ...apart } });
  expect(Object.keys(own)).toEqual(['index.js', 'index.js.map']);
  expect(own).toEqual(cdks);
  expect(clients).toEqual([
    ['mcp-task-server-aws/dynamodb.js', expect.stringContaining('dynamodb')],
    ['mcp-task-server-aws/s3-files.js', expect.stringContaining('CompleteMultipartUpload')],
    ['mcp-task-server-aws/s3.js', expect.stringContaining('PutObject')],
  ]);
});

test('a function that CDK bundles has the AWS clients in its one file', () => {
  const cdks = codeOf({ esbuildArgs: { '--log-limit': '2', '--minify': true } });
  expect(Object.keys(cdks)).toEqual(['index.js', 'index.js.map']);
  expect(cdks['index.js']).toContain('PutObject');
});

test('two functions of one file with other options have separate code', () => {
  const stack = new Stack(new App({ outdir: join(outdir, 'two') }), 'S');
  for (const [id, bundling] of Object.entries({ Small: {}, Readable: { minify: false } })) {
    new ToolFunction(stack, id, { entry: 'functions/examples/greet.ts', bundling });
  }
  const functions = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
  expect(new Set(functions.map(({ Properties }) => Properties.Code.S3Key))).toHaveProperty('size', 2);
});
