import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { LoggingFormat } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { ToolFunction, type ToolFunctionProps } from '../../../lib/index.ts';

function propertiesOf(props: Partial<ToolFunctionProps> = {}) {
  const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'S');
  new ToolFunction(stack, 'Tool', { entry: 'functions/examples/greet.ts', ...props });
  const [found] = Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
  return found?.Properties;
}

test('a tool logs JSON, and its stacks name its own files', () => {
  const { LoggingConfig, Environment } = propertiesOf({ environment: { TOPIC: 't' } });
  expect(LoggingConfig).toMatchObject({ LogFormat: 'JSON' });
  expect(Environment.Variables).toMatchObject({ NODE_OPTIONS: '--enable-source-maps', TOPIC: 't' });
});

test("the author's settings for logs, options of Node and source maps win", () => {
  const own = { loggingFormat: LoggingFormat.TEXT, environment: { NODE_OPTIONS: '--trace-warnings' } };
  const { LoggingConfig, Environment } = propertiesOf(own);
  expect(LoggingConfig.LogFormat).toBe('Text');
  expect(Environment.Variables.NODE_OPTIONS).toBe('--trace-warnings');
  expect(propertiesOf({ logFormat: 'Text' }).LoggingConfig.LogFormat).toBe('Text');
  expect(propertiesOf({ bundling: { sourceMap: false } }).Environment?.Variables.NODE_OPTIONS).toBeUndefined();
});
