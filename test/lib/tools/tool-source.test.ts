import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { BundlingOptions } from 'aws-cdk-lib/aws-lambda-nodejs';
import { expect, test } from 'vitest';
import { ToolFunction } from '../../../lib/index.ts';

const MARK = 'mcp-task-server:source';

/** The template's function, as an app that `dev` runs makes it, or as any other app does. */
function functionOf(dev: boolean, bundling: BundlingOptions = {}) {
  const app = new App({ context: dev ? { 'mcp-task-server:dev': true } : { 'aws:cdk:bundling-stacks': [] } });
  const stack = new Stack(app, 'S');
  new ToolFunction(stack, 'Tool', { entry: 'functions/examples/greet.ts', bundling });
  const [found] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
  return found;
}

test('a deployed template says nothing of the files of this machine', () => {
  expect(functionOf(false)?.Metadata?.[MARK]).toBeUndefined();
});

test('dev is told the file, and the options of esbuild that the bundling stands for', () => {
  const { Metadata, Properties } =
    functionOf(true, { define: { A: '1' }, externalModules: ['x'], banner: '/**/' }) ?? {};
  expect(Metadata?.[MARK]).toEqual({
    entry: expect.stringMatching(/\/functions\/examples\/greet\.ts$/),
    options: {
      ...{ minify: true, loader: { '.gz': 'binary' }, define: { A: '1' }, mainFields: ['module', 'main'] },
      ...{ target: 'node24', banner: { js: '/**/' }, external: ['x'], format: 'cjs' },
      supported: { 'dynamic-import': false },
    },
  });
  expect(Properties?.Handler).toBe('index.handler');
});
