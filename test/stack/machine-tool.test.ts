import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, type IStateMachine, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { describe, expect, test } from 'vitest';
import { Auth, McpTaskServer, type StateMachineToolProps, type ToolProps } from '../../lib/index.ts';
import { toolEntry } from '../../lib/tools/tool-entry.ts';
import { inlineFunction } from '../support/inline-function.ts';

const asl = '{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}';
const described = { description: 'd', inputSchema: { type: 'object' } };

function makeServer(maxTtl = Duration.hours(24), env = {}) {
  const stack = new Stack(new App(), 'S', env);
  const machine = (id: string, more = {}) =>
    new StateMachine(stack, id, { definitionBody: DefinitionBody.fromString(asl), ...more });
  return { stack, machine, server: new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), maxTtl }) };
}

function template() {
  const { stack, machine, server } = makeServer();
  const stateMachine = machine('Mine');
  server.addTool('mine', { ...described, stateMachine });
  server.addTool('same', { ...described, stateMachine, taskSupport: 'required' });
  server.addTool('slow', { ...described, stateMachine: machine('Slow'), timeout: Duration.hours(3) });
  return Template.fromStack(stack);
}
const synthesized = template();

const join = (...parts: unknown[]) => ({ 'Fn::Join': ['', parts] });
const mine = { Ref: Match.stringLikeRegexp('^Mine') };
const nameOfMine = { 'Fn::Select': [6, { 'Fn::Split': [':', mine] }] };

describe('the template', () => {
  test('has a tool workflow and the machine itself: no function in between', () => {
    const functions = Object.values(synthesized.findResources('AWS::Lambda::Function'));
    expect(functions.map(({ Properties }) => Properties.Description)).toEqual([
      expect.stringContaining('Rotates the key'),
      expect.stringContaining('MCP endpoint'),
      expect.stringContaining('Takes signals'),
      expect.stringContaining('Settles MCP tasks'),
      expect.stringContaining('Publishes the changes'),
    ]);
  });

  test('the workflow knows the machine of each tool', () => {
    const slow = { Ref: Match.stringLikeRegexp('^Slow') };
    const known = ["{'mine': '", mine, "', 'same': '", mine, "', 'slow': '", slow, "'}"];
    synthesized.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      DefinitionSubstitutions: { StateMachines: { 'Fn::Join': ['', known] } },
    });
  });

  test('the endpoint knows each machine once, by name', () => {
    synthesized.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          TOOL_MACHINES: join(nameOfMine, ',', {
            'Fn::Select': [6, { 'Fn::Split': [':', { Ref: Match.stringLikeRegexp('^Slow') }] }],
          }),
        }),
      },
    });
  });

  test('a machine from elsewhere is known by its ARN', () => {
    const { stack, server } = makeServer();
    const arn = 'arn:aws:states:eu-west-1:123456789012:stateMachine:Theirs';
    server.addTool('x', { ...described, stateMachine: StateMachine.fromStateMachineArn(stack, 'T', arn) });
    const text = JSON.stringify(Template.fromStack(stack));
    expect(text).toContain(':execution:Theirs:*');
    expect(text).toContain('"TOOL_MACHINES":"Theirs"');
  });
});

describe('a wrong registration fails at synth, with the name of the tool', () => {
  const register = (props: object, maxTtl?: Duration) => () => {
    const { server, machine } = makeServer(maxTtl);
    server.addTool('x', { ...described, stateMachine: machine('M'), ...props } as unknown as ToolProps);
  };

  test.each<[string, object, RegExp]>([
    ['neither', { stateMachine: undefined }, /'x': give it either a handler .* or a stateMachine/],
    ['forbidden', { taskSupport: 'forbidden' }, /'x': a state machine always runs as a task: set taskSupport to/],
    ['longer than any task lives', { timeout: Duration.hours(25) }, /'x': a timeout is at most the maxTtl/],
    ['half a second', { timeout: Duration.millis(500) }, /'x': a timeout is a whole number of seconds/],
  ])('%s', (_title, props, message) => {
    expect(register(props)).toThrow(message);
  });

  test('both', () => {
    const { stack, server, machine } = makeServer();
    const handler = inlineFunction(stack);
    const props = { ...described, handler, stateMachine: machine('M') } as unknown as ToolProps;
    expect(() => server.addTool('x', props)).toThrow(/'x': give it either/);
  });

  test('an express machine', () => {
    const { server, machine } = makeServer();
    const stateMachine = machine('M', { stateMachineType: StateMachineType.EXPRESS });
    expect(() => server.addTool('x', { ...described, stateMachine })).toThrow(
      /'x': an express state machine can be neither/,
    );
  });

  test('a machine of another account or region', () => {
    const { stack, server } = makeServer(undefined, { env: { account: '123456789012', region: 'eu-west-1' } });
    const theirs = (id: string, account: string, region: string): IStateMachine =>
      StateMachine.fromStateMachineArn(stack, id, `arn:aws:states:${region}:${account}:stateMachine:Theirs`);
    const add = (stateMachine: IStateMachine) => () => server.addTool('x', { ...described, stateMachine });
    const message = /'x': the state machine must be in the account and region of the server/;
    expect(add(theirs('A', '210987654321', 'eu-west-1'))).toThrow(message);
    expect(add(theirs('B', '123456789012', 'us-east-1'))).toThrow(message);
    expect(add(theirs('C', '123456789012', 'eu-west-1'))).not.toThrow();
  });

  test('more machines than the environment of the endpoint can name', () => {
    const { server, machine } = makeServer();
    const add = (i: number) => server.addTool(`x${i}`, { ...described, stateMachine: machine(`M${i}`) });
    for (let i = 0; i < 20; i++) add(i);
    expect(() => add(20)).toThrow(/'x20': tools share at most 20 state machines/);
  });

  test('the compiler says it first', () => {
    const some = {} as StateMachineToolProps;
    // @ts-expect-error a state machine is never forbidden
    const forbidden: ToolProps = { ...some, taskSupport: 'forbidden' };
    // @ts-expect-error it is one or the other
    const both: ToolProps = { ...some, handler: {} as LambdaFunction };
    // @ts-expect-error there must be one
    const neither: ToolProps = described;
    expect([forbidden, both, neither]).toHaveLength(3);
  });
});

describe('its entry in the endpoint', () => {
  const hour = 3_600_000;
  const entry = (props: object, maxTtl = 24 * hour) =>
    toolEntry('x', { ...described, stateMachine: {} as IStateMachine, ...props }, [], maxTtl);

  test('a task of it is optional and may take 15 minutes, by default', () => {
    expect(entry({})).toMatchObject({ taskSupport: 'optional', timeout: hour / 4, engine: 'machine' });
    expect(entry({}).ttl).toBeUndefined();
    expect(entry({ taskSupport: 'required' }).taskSupport).toBe('required');
  });

  test('it may take longer than a function, and its tasks live longer then: work ends with the ttl', () => {
    expect(entry({ timeout: Duration.hours(3) })).toMatchObject({ timeout: 3 * hour, ttl: 4 * hour });
    expect(entry({ timeout: Duration.hours(24) })).toMatchObject({ timeout: 24 * hour, ttl: 24 * hour });
    expect(entry({ timeout: Duration.hours(3), ttl: Duration.hours(5) }).ttl).toBe(5 * hour);
  });

  test('where tasks live for a minute, it takes a minute', () => {
    expect(entry({}, 60_000).timeout).toBe(60_000);
  });
});
