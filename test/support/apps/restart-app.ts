import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** Tools that run for as long as a test wants, in every state; the slow ones have their own function. */
const stack = new Stack(new App(), 'Restart');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });
const toolFunction = (id: string) =>
  new ToolFunction(stack, id, {
    entry: 'test/support/apps/restart-tools.ts',
    timeout: Duration.seconds(300),
    // 16 workers at once have room on a small machine, too.
    memorySize: 128,
  });
const tool = { inputSchema: { type: 'object' }, taskSupport: 'required' } as const;

const quick = { ...tool, handler: toolFunction('Quick') };
server.addTool('short', { ...quick, description: 'Returns its arguments' });
server.addTool('ask', { ...quick, description: 'Asks once' });

const slow = { ...tool, handler: toolFunction('Slow'), timeout: Duration.seconds(120) };
server.addTool('once', { ...slow, description: 'Waits for a file; may not be repeated' });
server.addTool('repeat', { ...slow, description: 'Waits for a file', annotations: { idempotentHint: true } });

const definition = {
  QueryLanguage: 'JSONata',
  StartAt: 'Wait',
  States: {
    Wait: { Type: 'Wait', Seconds: '{% $states.input.arguments.seconds %}', Next: 'Say' },
    Say: { Type: 'Pass', Output: { version: 'first-version' }, End: true },
  },
};
const stateMachine = new StateMachine(stack, 'Machine', {
  definitionBody: DefinitionBody.fromString(JSON.stringify(definition)),
});
server.addTool('machine', { ...tool, stateMachine, description: 'Waits, and says which version it is' });
