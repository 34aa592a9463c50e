import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';

/** Tools for the page of the tasks: questions, failures, retries, and hostile texts. */
const stack = new Stack(new App(), 'Shop');
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous(), removalPolicy: RemovalPolicy.DESTROY });
const handler = new ToolFunction(stack, 'Tools', {
  entry: 'test/support/apps/tools.ts',
  timeout: Duration.seconds(60),
});
const tool = { handler, inputSchema: { type: 'object' }, taskSupport: 'required' } as const;
server.addTool('throws', { ...tool, description: 'Throws' });
server.addTool('echo', { ...tool, description: 'Returns its arguments' });
server.addTool('returns', { ...tool, description: 'Returns the JSON that it gets' });
server.addTool('steps', { ...tool, description: 'Reports each of its steps' });
server.addTool('sleep', { ...tool, description: 'Sleeps' });
server.addTool('confide', { ...tool, description: 'Passes on each text that it gets' });
server.addTool('ask_twice', { ...tool, description: 'Asks two questions, one after the other' });
server.addTool('ask_two', { ...tool, description: 'Asks two questions at once' });
server.addTool('ask_url', { ...tool, description: 'Asks by URL' });
server.addTool('charge_then_crash', { ...tool, description: 'Crashes', annotations: { idempotentHint: true } });

/** A tool that is a state machine: `fails` tries at the card fail, and the label takes `hold` seconds. */
const order = {
  QueryLanguage: 'JSONata',
  StartAt: 'Reserve stock',
  States: {
    'Reserve stock': {
      ...{ Type: 'Wait', Seconds: 1, Next: 'Charge card' },
      Assign: { hold: '{% $states.input.arguments.hold %}' },
    },
    'Charge card': {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Arguments: {
        FunctionName: '${Function}',
        Payload: {
          name: 'flaky',
          arguments: { fails: '{% $states.input.arguments.fails %}', tried: '{% $states.context.State.RetryCount %}' },
        },
      },
      Retry: [{ ErrorEquals: ['CardRefused'], IntervalSeconds: 1, BackoffRate: 1, MaxAttempts: 3 }],
      Next: 'Ship',
    },
    Ship: {
      Type: 'Parallel',
      Branches: [
        { StartAt: 'Send mail', States: { 'Send mail': { Type: 'Wait', Seconds: 1, End: true } } },
        { StartAt: 'Print label', States: { 'Print label': { Type: 'Wait', Seconds: '{% $hold %}', End: true } } },
      ],
      Output: { content: [{ type: 'text', text: 'shipped' }] },
      End: true,
    },
  },
};
const stateMachine = new StateMachine(stack, 'Order', {
  definitionBody: DefinitionBody.fromString(JSON.stringify(order)),
  definitionSubstitutions: { Function: handler.functionArn },
});
handler.grantInvoke(stateMachine);
server.addTool('ship_order', {
  ...{ description: 'Ships an order', inputSchema: { type: 'object' }, taskSupport: 'required' },
  timeout: Duration.hours(2),
  stateMachine,
});
