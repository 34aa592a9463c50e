import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { DefinitionBody, IntegrationPattern, StateMachine, TaskInput, Timeout } from 'aws-cdk-lib/aws-stepfunctions';
import { SqsSendMessage } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { inspectRegions } from '../../../functions/examples/inspect-regions.ts';
import { Auth, McpTaskServer } from '../../../lib/index.ts';
import { machines } from './machines.ts';

/** Tools that are state machines, and no function but the endpoint. */
const stack = new Stack(new App(), 'Machines');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });

const machine = (id: string, definitionBody: DefinitionBody) => new StateMachine(stack, id, { definitionBody });

for (const [name, { definition, ...props }] of Object.entries(machines)) {
  const asl = JSON.stringify({ QueryLanguage: 'JSONata', ...definition });
  server.addTool(name, {
    description: 'A state machine',
    inputSchema: { type: 'object' },
    // Some tests run a cloud at 400 times the speed, also on a busy machine.
    timeout: Duration.hours(20),
    ...props,
    stateMachine: machine(name, DefinitionBody.fromString(asl)),
  });
}
server.addTool('inspect_regions', {
  ...inspectRegions,
  stateMachine: machine('Regions', DefinitionBody.fromFile('functions/examples/inspect-regions.asl.json')),
});

// AWS's example "Create a workflow that waits for a callback": a message carries the token.
const jobs = new Queue(stack, 'Jobs');
const callback = machine(
  'Callback',
  DefinitionBody.fromChainable(
    SqsSendMessage.jsonata(stack, 'Start Task And Wait For Callback', {
      integrationPattern: IntegrationPattern.WAIT_FOR_TASK_TOKEN,
      queue: jobs,
      messageBody: TaskInput.fromObject({ token: '{% $states.context.Task.Token %}' }),
      taskTimeout: Timeout.duration(Duration.days(2)),
    }),
  ),
);
server.addTool('callback', {
  description: 'Waits for an answer to its message',
  inputSchema: { type: 'object' },
  timeout: Duration.hours(20),
  stateMachine: callback,
});
