import { App, Stack } from 'aws-cdk-lib';
import {
  Alias,
  Code,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { functionRun } from '../../../lib/tools/tool-run.ts';

const stack = new Stack(new App(), 'S');
const code = Code.fromInline('exports.handler = async () => null;');
const plain = new LambdaFunction(stack, 'F', { runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code });
const arn = plain.functionArn;

test.each<[string, IFunction, string[]]>([
  ['function alone', plain, [arn]],
  [
    'function and every version of it: a run that began before a deployment has the one before',
    plain.currentVersion as IFunction,
    [arn, `${arn}:*`],
  ],
  [
    'function, its versions and aliases',
    new Alias(stack, 'A', { aliasName: 'live', version: plain.currentVersion as IVersion }) as IFunction,
    [arn, `${arn}:*`],
  ],
])('a tool workflow may invoke the %s', (_, handler, resources) => {
  const { statements, substitutions } = functionRun(handler, false);
  expect(statements.map((statement) => statement.resources)).toEqual([resources]);
  expect(statements.map((statement) => statement.actions)).toEqual([['lambda:InvokeFunction']]);
  expect(substitutions).toEqual({ FunctionArn: handler.functionArn });
});
