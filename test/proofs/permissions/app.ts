import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AccountPrincipal, type CfnRole, Role } from 'aws-cdk-lib/aws-iam';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Auth, McpTaskServer, ToolFunction } from '../../../lib/index.ts';
import { AUDIENCE } from '../../support/oidc.ts';

/** One tool of each kind, so that every policy of this project occurs once. */
const stack = new Stack(new App(), 'Permissions');
const issuer = process.env.MCP_TEST_ISSUER ?? 'https://login.example.com';
const server = new McpTaskServer(stack, 'Server', {
  auth: Auth.oauth({ issuer, audience: AUDIENCE }),
  removalPolicy: RemovalPolicy.DESTROY,
  events: { hold: Duration.seconds(0) },
});
const toolFunction = (id: string) =>
  new ToolFunction(stack, id, { entry: 'test/proofs/permissions/tools.ts', timeout: Duration.seconds(60) });
const tool = { description: 'A tool', inputSchema: { type: 'object' } } as const;

const direct = toolFunction('Direct');
server.addTool('direct', { ...tool, handler: direct });
server.addTool('guarded', { ...tool, handler: direct, scopes: ['ops'] });
const work = toolFunction('Work');
server.addTool('work', { ...tool, handler: work, taskSupport: 'required' });
server.addTool('quick', {
  ...{ ...tool, handler: work, taskSupport: 'required' },
  ...{ engine: 'express', annotations: { readOnlyHint: true } },
});

const answer = "{ 'said': 'done', 'filler': $states.input.arguments.filler }";
const form = "{ 'message': $states.input.arguments.filler, 'requestedSchema': { 'type': 'object', 'properties': {} } }";
const question = `{ 'inputRequests': { 'sure': { 'method': 'elicitation/create', 'params': ${form} } } }`;
const definition = {
  QueryLanguage: 'JSONata',
  StartAt: 'Pausing',
  States: {
    Pausing: { Type: 'Wait', Seconds: '{% $states.input.arguments.seconds %}', Next: 'Say' },
    Say: { Type: 'Pass', Output: `{% $states.input.arguments.ask ? ${question} : ${answer} %}`, End: true },
  },
};
const stateMachine = new StateMachine(stack, 'Machine', {
  definitionBody: DefinitionBody.fromString(JSON.stringify(definition)),
});
server.addToolFile('files', 'test/proofs/permissions/files.ts', { timeout: Duration.seconds(60) });
server.addTool('machine', { ...tool, stateMachine, taskSupport: 'required' });

// There are two operators: one with the read policy, one with all policies.
const { read, act, payload } = server.operatorPolicies;
for (const [id, policies] of [
  ['Reader', [read]],
  ['Operator', [read, act, payload]],
] as const) {
  const role = new Role(stack, id, { assumedBy: new AccountPrincipal(stack.account) });
  (role.node.defaultChild as CfnRole).overrideLogicalId(id);
  for (const policy of policies) policy.attachToRole(role);
}
