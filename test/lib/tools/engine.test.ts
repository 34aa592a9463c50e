import { App, Duration, Lazy, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Code, type IFunction, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { expect, test } from 'vitest';
import { ENGINES } from '../../../functions/tasks/engines.ts';
import { Auth, McpTaskServer } from '../../../lib/index.ts';
import type { FunctionToolProps, ToolProps } from '../../../lib/tools/tool-props.ts';

const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
const stack = new Stack(app, 'S');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
const lambda = (id: string, seconds?: number) =>
  new LambdaFunction(stack, id, {
    ...{ runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code: Code.fromInline('exports.handler = () => 1') },
    ...(seconds !== undefined && { timeout: Duration.seconds(seconds) }),
  });
const [quick, slow] = [lambda('Quick', ENGINES.express.function / 1_000), lambda('Slow', 241)];
const unknown = lambda('Unknown', Lazy.number({ produce: () => 900 }));
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
  ['has a timeout that only the deployment knows', { handler: unknown }, /is known at deployment only.*fixed timeout/],
  ['never runs as a task', { taskSupport: 'forbidden' }, /only a task has an engine: set taskSupport/],
  ['is a state machine', { handler: undefined, stateMachine: machine }, /a state machine as a tool runs on Standard/],
  ['has another engine', { engine: 'fast' }, /an engine is 'standard' or 'express'/],
])('Express is refused, by the name of the tool, if it %s', (_, change, problem) => {
  const props = { ...fits, ...change } as unknown as ToolProps;
  expect(() => server.addTool('refused', props)).toThrow(problem);
  expect(() => server.addTool('refused', props)).toThrow(/^Tool 'refused': /);
});

test('the workflow on Express is an Express machine, which logs its runs without their payload', () => {
  server.addTool('fits', fits);
  server.addTool('plain', { ...fits, engine: 'standard', annotations: {} });
  const machines = Template.fromStack(stack).findResources('AWS::StepFunctions::StateMachine');
  const [express] = Object.values(machines)
    .map(({ Properties }) => Properties)
    .filter(({ StateMachineType }) => StateMachineType === 'EXPRESS');
  expect(express.StateMachineName).toMatch(/-express$/);
  expect(express.LoggingConfiguration).toMatchObject({ Level: 'ALL', IncludeExecutionData: false });
  expect(JSON.stringify(express.DefinitionSubstitutions.Functions)).toMatch(/^(?!.*'plain').*'fits'/);
});

const warnings = (id: string) =>
  Annotations.fromStack(stack)
    .findWarning('*', Match.stringLikeRegexp(id))
    .map(({ entry }) => String(entry.data));

test('warns of a function whose timeout is not known, and not of one with the default', () => {
  const { functionArn } = quick;
  const elsewhere = LambdaFunction.fromFunctionArn(stack, 'Elsewhere', functionArn);
  server.addTool('elsewhere', { ...fits, handler: elsewhere });
  server.addTool('default', { ...fits, handler: lambda('Default') });
  server.addTool('alias', { ...fits, handler: quick.addAlias('live') as IFunction });
  expect(warnings('express-function-timeout')).toEqual([expect.stringContaining(`Tool 'elsewhere': its function`)]);
});

test('warns of a deadline before which a lost run cannot start again: 7.5 minutes', () => {
  server.addTool('short', { ...fits, timeout: Duration.seconds(449) });
  server.addTool('long', { ...fits, timeout: Duration.seconds(450) });
  server.addTool('standard', { ...fits, engine: 'standard', timeout: Duration.seconds(60) });
  expect(warnings('express-timeout')).toEqual([expect.stringContaining(`Tool 'short': a run on Express`)]);
});
