import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer, type McpTaskServerProps } from '../../lib/index.ts';

/** What an app does with a server that it has made. */
function made(props: Partial<McpTaskServerProps> = {}) {
  const stack = new Stack(new App(), 'S');
  return { stack, server: new McpTaskServer(stack, 'Server', { auth: Auth.iam(), ...props }) };
}

describe('url', () => {
  test('is the URL of the stage, and the value of the output', () => {
    const { stack, server } = made();
    const url = stack.resolve(server.url);
    expect(JSON.stringify(url)).toMatch(/execute-api.*\/mcp/);
    const outputs = Object.values(Template.fromStack(stack).findOutputs('*')).map(({ Value }) => Value);
    expect(outputs).toContainEqual(url);
  });

  test('is the URL of the domain, if the server has one', () => {
    const { stack } = made();
    const certificate = Certificate.fromCertificateArn(stack, 'C', 'arn:aws:acm:us-east-1:000000000000:certificate/c');
    const auth = Auth.anonymous();
    const server = new McpTaskServer(stack, 'Named', { auth, domain: { name: 'mcp.example.com', certificate } });
    expect(server.url).toBe('https://mcp.example.com/mcp');
  });
});

describe('grantInvoke', () => {
  test('lets a role call /mcp of this stage, with every method, and nothing else', () => {
    const { stack, server } = made();
    const role = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
    expect(server.grantInvoke(role).success).toBe(true);
    const policies = Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
    const own = policies.filter(({ Properties: p }) => JSON.stringify(p.Roles).includes('Caller'));
    const { Statement: statements } = own[0]?.Properties.PolicyDocument ?? {};
    expect(own).toHaveLength(1);
    expect(statements).toHaveLength(1);
    expect(statements[0]).toMatchObject({ Effect: 'Allow', Action: 'execute-api:Invoke' });
    const [, parts] = statements[0].Resource['Fn::Join'];
    const text = parts.map((part: string | object) => (typeof part === 'string' ? part : '<>')).join('');
    expect(text).toBe('arn:<>:execute-api:<>:<>:<>/<>/*/mcp');
  });

  test('is refused without iam, by name', () => {
    const { stack, server } = made({ auth: Auth.anonymous() });
    const role = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
    expect(() => server.grantInvoke(role)).toThrow('McpTaskServer: grantInvoke needs auth: Auth.iam()');
  });
});
