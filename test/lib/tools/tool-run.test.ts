import { App, Stack } from 'aws-cdk-lib';
import { Alias, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { functionRun } from '../../../lib/tools/tool-run.ts';
import { inlineFunction } from '../../support/inline-function.ts';

const stack = new Stack(new App(), 'S');
const plain = inlineFunction(stack);
const plainArn = plain.functionArn;

test.each<[string, IFunction, string[]]>([
  ['function alone', plain, [plainArn]],
  [
    'function and every version of it: a run that began before a deployment has the one before',
    plain.currentVersion as IFunction,
    [plainArn, `${plainArn}:*`],
  ],
  [
    'function, its versions and aliases',
    new Alias(stack, 'A', { aliasName: 'live', version: plain.currentVersion as IVersion }) as IFunction,
    [plainArn, `${plainArn}:*`],
  ],
])('a tool workflow may invoke the %s', (_, handler, resources) => {
  const { statements, arn } = functionRun(handler);
  expect(statements.map((statement) => statement.resources)).toEqual([resources]);
  expect(statements.map((statement) => statement.actions)).toEqual([['lambda:InvokeFunction']]);
  expect(arn).toBe(handler.functionArn);
});
