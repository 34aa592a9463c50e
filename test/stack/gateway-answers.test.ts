import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer } from '../../lib/index.ts';

describe('an answer that API Gateway makes by itself', () => {
  const stack = new Stack(new App(), 'S');
  new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
  const found = Template.fromStack(stack).findResources('AWS::ApiGateway::GatewayResponse');
  const answers = new Map(
    Object.values(found).map(({ Properties }) => {
      const template = Properties.ResponseTemplates['application/json'].replace(
        '$context.error.messageString',
        '"why"',
      );
      return [Properties.ResponseType, { ...Properties, body: JSON.parse(template) }];
    }),
  );
  const retryAfter = 'gatewayresponse.header.Retry-After';

  test('is JSON-RPC without an id, for every kind of answer (A-05)', () => {
    expect([...answers.keys()].sort()).toEqual(['DEFAULT_4XX', 'DEFAULT_5XX', 'THROTTLED']);
    for (const { body } of answers.values()) expect(Object.keys(body)).toEqual(['jsonrpc', 'error']);
  });

  test('is a fault without internal details when the endpoint did not answer (A-15)', () => {
    const { body, ResponseParameters, StatusCode } = answers.get('DEFAULT_5XX');
    expect(body.error).toEqual({ code: -32603, message: 'The server could not answer: try again in a moment' });
    expect([ResponseParameters[retryAfter], StatusCode]).toEqual([`'1'`, undefined]);
  });

  test('has a reason for a refused request, and Retry-After for too many requests', () => {
    expect(answers.get('DEFAULT_4XX').body.error).toEqual({ code: -32600, message: 'why' });
    expect(answers.get('THROTTLED').body.error).toEqual({ code: -32600, message: 'why' });
    expect(answers.get('THROTTLED').ResponseParameters[retryAfter]).toBe(`'1'`);
  });
});
