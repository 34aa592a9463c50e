import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import { anonymous, McpTaskServer } from '../../../lib/index.ts';
import type { FunctionToolProps, ToolProps } from '../../../lib/tools/tool-props.ts';

const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
const stack = new Stack(app, 'S');
const server = new McpTaskServer(stack, 'Server', { auth: anonymous() });
const lambda = (id: string, seconds?: number) =>
  new LambdaFunction(stack, id, {
    ...{ runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code: Code.fromInline('exports.handler = () => 1') },
    ...(seconds !== undefined && { timeout: Duration.seconds(seconds) }),
  });
const [quick, slow] = [lambda('Quick', limits.express.function / 1_000), lambda('Slow', 241)];
const fits: FunctionToolProps = {
  ...{ handler: quick, description: 'd', inputSchema: { type: 'object' }, taskSupport: 'optional' },
  ...{ engine: 'express', annotations: { readOnlyHint: true } },
};
const machine = new StateMachine(stack, 'M', { definitionBody: DefinitionBody.fromChainable(new Pass(stack, 'P')) });

test.each<[string, object, RegExp]>([
  ['may not be repeated', { annotations: {} }, /may run a tool more than once: set readOnlyHint or idempotentHint/],
  ['has no annotations', { annotations: undefined }, /more than once/],
  ['takes too long', { handler: slow }, /may take 241 seconds, and a run on Express has room for 240: lower/],
  ['takes too long, as a version', { handler: slow.currentVersion }, /may take 241 seconds/],
  ['never runs as a task', { taskSupport: 'forbidden' }, /only a task has an engine: set taskSupport/],
  ['is a state machine', { handler: undefined, stateMachine: machine }, /a state machine as a tool runs on Standard/],
  ['has another engine', { engine: 'fast' }, /an engine is 'standard' or 'express'/],
])('Express is refused, by the name of the tool, if it %s', (_, change, problem) => {
  const props = { ...fits, ...change } as unknown as ToolProps;
  expect(() => server.addTool('refused', props)).toThrow(problem);
  expect(() => server.addTool('refused', props)).toThrow(/^Tool 'refused': /);
});

test('an Express tool has an Express machine of another name, with the states of a Standard one', () => {
  server.addTool('fits', fits).addTool('plain', { ...fits, engine: 'standard' });
  const machines = Object.entries(Template.fromStack(stack).findResources('AWS::StepFunctions::StateMachine'));
  const of = (id: string) => machines.find(([name]) => name.startsWith(id))?.[1].Properties;
  const [express, standard] = [of('ServerToolfits'), of('ServerToolplain')];
  expect(express).toMatchObject({
    StateMachineType: 'EXPRESS',
    StateMachineName: expect.stringMatching(/-fits-[0-9a-f]{8}$/),
  });
  expect(express.LoggingConfiguration).toMatchObject({ Level: 'ALL', IncludeExecutionData: false });
  expect(standard).not.toHaveProperty('StateMachineType');
  expect(standard.StateMachineName).toMatch(/-plain$/);
  const statesOf = (properties: object) =>
    JSON.stringify(properties).match(/\\?"(Run|Finish|Superseded)\\?":\{/g)?.length ?? 0;
  expect(statesOf(express)).toBe(statesOf(standard));
});
