import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { ENDPOINT_ID, SERVER_MARK } from '../../functions/operator/server-mark.ts';
import { Auth, McpTaskServer } from '../../lib/index.ts';
import { DEV_CONTEXT, SOURCE_MARK } from '../../lib/tools/tool-bundling.ts';
import { definition } from '../../lib/workflow/definition.ts';
import * as known from '../../local/marks.ts';

test('the embedded cloud knows the product by the names that it has', () => {
  const RUN_STATE = JSON.parse(definition('standard')).StartAt;
  // The tests of events send to receivers on this machine by this one.
  const { RECEIVERS_HERE: _, ...marks } = known;
  expect(marks).toEqual({ SERVER_MARK, SOURCE_MARK, DEV_CONTEXT, RUN_STATE });
});

test('of all functions of a server, the commands find its endpoint by the end of its logical id', () => {
  const stack = new Stack(new App(), 'S');
  new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
  const functions = Object.entries(Template.fromStack(stack).findResources('AWS::Lambda::Function'));
  const marked = functions.filter(([, { Metadata }]) => SERVER_MARK in (Metadata ?? {}));
  expect(functions.length).toBeGreaterThan(marked.length);
  expect(functions.filter(([id]) => ENDPOINT_ID.test(id))).toEqual(marked);
});
