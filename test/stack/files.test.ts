import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../lib/index.ts';
import { inlineFunction } from '../support/inline-function.ts';

function templateOf(...files: boolean[]) {
  const stack = new Stack(new App(), 'S');
  const handler = inlineFunction(stack);
  const server = new McpTaskServer(stack, 'Server', { auth: Auth.iam() });
  const tool = { handler, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'required' } as const;
  for (const [n, one] of files.entries()) server.addTool(`t${n}`, { ...tool, ...(one && { files: true }) });
  return Template.fromStack(stack);
}
const isServed = (template: Template) =>
  Object.keys(template.findResources('AWS::ApiGateway::Resource', { Properties: { PathPart: 'files' } })).length;

test('the URLs of files are served once a tool has files: without authorization, with limits', () => {
  expect([isServed(templateOf()), isServed(templateOf(false))]).toEqual([0, 0]);
  const template = templateOf(false, true, true);
  expect(isServed(template)).toBe(1);
  const [[resource] = []] = Object.entries(
    template.findResources('AWS::ApiGateway::Resource', { Properties: { PathPart: '{name}' } }),
  ).filter(([id]) => id.includes('files'));
  for (const HttpMethod of ['GET', 'HEAD']) {
    template.hasResourceProperties('AWS::ApiGateway::Method', {
      ...{ HttpMethod, AuthorizationType: 'NONE', ResourceId: { Ref: resource } },
      Integration: Match.objectLike({ Type: 'AWS_PROXY', ResponseTransferMode: 'STREAM' }),
    });
    const limits = { ThrottlingRateLimit: 200, ThrottlingBurstLimit: 400 };
    template.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: Match.arrayWith([
        Match.objectLike({ ResourcePath: '/*', HttpMethod: '*', ThrottlingRateLimit: 1_000 }),
        { ResourcePath: '/~1files~1{token}~1{name}', HttpMethod, ...limits },
      ]),
    });
  }
});
