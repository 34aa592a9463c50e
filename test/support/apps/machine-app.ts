import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
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
