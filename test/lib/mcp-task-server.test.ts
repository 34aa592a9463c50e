import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer, type McpTaskServerProps, type Status } from '../../lib/index.ts';
import { inlineFunction } from '../support/inline-function.ts';

const described = { description: 'd', inputSchema: { type: 'object' } } as const;

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

describe('a tool', () => {
  const granted = (stack: Stack, role: string) => {
    const policies = Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
    const own = policies.filter(({ Properties: p }) => JSON.stringify(p.Roles).includes(role));
    return JSON.stringify(own.map(({ Properties }) => Properties.PolicyDocument.Statement));
  };

  test('has its function and role: what is granted to it, its function may do', () => {
    const { stack, server } = made();
    const handler = inlineFunction(stack);
    const tool = server.addTool('work', { ...described, handler, taskSupport: 'optional' });
    // Not compared by their members: two trees of constructs take seconds.
    expect([tool.toolName, tool.stateMachine]).toEqual(['work', undefined]);
    expect(tool.function).toBe(handler);
    expect(tool.role).toBe(handler.role);
    new Bucket(stack, 'Data').grantRead(tool);
    expect(granted(stack, 'FServiceRole')).toContain('s3:GetObject');
  });

  test('has its state machine and role: what is granted to it, its state machine may do', () => {
    const { stack, server } = made();
    const definitionBody = DefinitionBody.fromChainable(Pass.jsonata(stack, 'P'));
    const stateMachine = new StateMachine(stack, 'M', { definitionBody });
    const tool = server.addTool('work', { ...described, stateMachine });
    expect([tool.toolName, tool.function]).toEqual(['work', undefined]);
    expect(tool.stateMachine).toBe(stateMachine);
    expect(tool.role).toBe(stateMachine.role);
    (new Bucket(stack, 'Data') as IBucket).grantRead(tool);
    expect(granted(stack, 'MRole')).toContain('s3:GetObject');
  });

  test('has no role here if its function is of another app', () => {
    const { stack, server } = made();
    const handler = Lambda.fromFunctionArn(stack, 'F', 'arn:aws:lambda:eu-west-1:123456789012:function:f');
    expect(server.addTool('work', { ...described, handler }).role).toBeUndefined();
  });

  test('has metrics of its own tasks', () => {
    const { stack, server } = made();
    const tool = server.addTool('work', { ...described, handler: inlineFunction(stack) });
    const { Server } = server.metricFailed().dimensions ?? {};
    expect(tool.metricFailed()).toMatchObject({
      ...{ namespace: 'McpTaskServer', metricName: 'Failed', statistic: 'Sum' },
      dimensions: { Server, Tool: 'work' },
    });
    expect(tool.metricTimeToEnd({ statistic: 'p50', period: Duration.minutes(1) })).toMatchObject({
      ...{ metricName: 'TimeToEnd', statistic: 'p50', period: Duration.minutes(1) },
    });
  });
});

describe('onTaskStatusChange', () => {
  const rules = (stack: Stack) =>
    Object.entries(Template.fromStack(stack).findResources('AWS::Events::Rule')).flatMap(([id, { Properties }]) =>
      id.startsWith('Server') && !id.startsWith('ServerReconciler') ? [Properties] : [],
    );

  test('makes a rule for the changes of this server, of a tool, to a status', () => {
    const { stack, server } = made();
    const handler = inlineFunction(stack);
    server.addTool('work', { ...described, handler, taskSupport: 'optional' });
    const status: readonly Status[] = ['completed', 'failed'];
    const target = new LambdaFunction(handler);
    server.onTaskStatusChange('Ended', { target, tool: 'work', status, description: 'Ends' });
    const { Server: name } = server.metricFailed().dimensions ?? {};
    const [rule] = rules(stack);
    expect(rule).toMatchObject({
      Description: 'Ends',
      EventPattern: {
        source: ['mcp-task-server'],
        'detail-type': ['Task Status Change'],
        detail: { server: [name], tool: ['work'], status: ['completed', 'failed'] },
      },
    });
    expect(rule?.EventBusName).toBeUndefined();
    expect(rule?.Targets).toHaveLength(1);
  });

  test('without more it takes every change, on the bus of the server', () => {
    const stack = new Stack(new App(), 'S');
    const eventBus = new EventBus(stack, 'Bus');
    const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), eventBus });
    server.onTaskStatusChange('Any').addTarget(new LambdaFunction(inlineFunction(stack)));
    const [rule] = rules(stack);
    expect(Object.keys(rule?.EventPattern.detail)).toEqual(['server']);
    expect(rule?.EventBusName).toEqual({ Ref: expect.stringContaining('Bus') });
  });

  test('a tool that the server does not have is refused at synth, by the id of the rule', () => {
    const { stack, server } = made();
    server.onTaskStatusChange('Ended', { tool: ['late', 'misspelt'] });
    server.addTool('late', { ...described, handler: inlineFunction(stack) });
    expect(() => App.of(stack)?.synth()).toThrow(/onTaskStatusChange 'Ended': the server has no tool 'misspelt'/);
    expect(() => App.of(stack)?.synth()).not.toThrow(/'late'/);
  });

  test('a status that no task has is refused, with those that there are', () => {
    const status = 'done' as Status;
    expect(() => made().server.onTaskStatusChange('Ended', { status })).toThrow(
      /'Ended': 'done' is no status: working,/,
    );
  });
});
