import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import {
  DefinitionBody as Body,
  type DefinitionBody,
  Map as MapState,
  StateMachine,
} from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../../lib/index.ts';
import { inlineFunction } from '../../support/inline-function.ts';

const WARNING = Match.stringLikeRegexp("Tool 'pay': the state 'Pay' of its machine calls a function again");

function warnings(
  body: (stack: Stack) => DefinitionBody,
  annotations: { readonly readOnlyHint?: boolean; readonly idempotentHint?: boolean } = {},
) {
  const stack = new Stack(new App(), 'S');
  const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
  const stateMachine = new StateMachine(stack, 'Machine', { definitionBody: body(stack) });
  server.addTool('pay', { description: 'd', inputSchema: { type: 'object' }, annotations, stateMachine });
  return Annotations.fromStack(stack).findWarning('*', WARNING);
}
const invoke = (stack: Stack, more: { retryOnServiceExceptions?: boolean } = {}) =>
  LambdaInvoke.jsonata(stack, 'Pay', { lambdaFunction: inlineFunction(stack), ...more });
const chain = (more?: { retryOnServiceExceptions?: boolean }) => (stack: Stack) =>
  Body.fromChainable(invoke(stack, more));

test('a machine that is a tool and repeats calls as LambdaInvoke does by default has a warning', () => {
  expect(warnings(chain())).toHaveLength(1);
  const inMap = (stack: Stack) => Body.fromChainable(MapState.jsonata(stack, 'All', {}).itemProcessor(invoke(stack)));
  expect(warnings(inMap)).toHaveLength(1);
});

test('one without these retries, and a tool that may run twice, has none', () => {
  expect(warnings(chain({ retryOnServiceExceptions: false }))).toEqual([]);
  expect(warnings(chain(), { idempotentHint: true })).toEqual([]);
  expect(warnings(chain(), { readOnlyHint: true })).toEqual([]);
  expect(warnings(() => Body.fromString('{"StartAt": "not a definition"'))).toEqual([]);
});
