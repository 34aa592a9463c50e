import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, Pass, QueryLanguage, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Auth, McpTaskServer } from '../../../lib/index.ts';
import { temporaryDir } from '../../../local/test/fixture.ts';

/** A server with a tool of each kind, each with a function or state machine of its own, and a state machine that is not a tool. */
const stack = new Stack(new App(), 'Rights');
const source = temporaryDir();
writeFileSync(join(source, 'index.js'), 'exports.handler = async () => 1');
const handler = (id: string) =>
  new LambdaFunction(stack, id, {
    ...{ runtime: Runtime.NODEJS_24_X, handler: 'index.handler', code: Code.fromAsset(source) },
  });
const machine = (id: string) => {
  const definitionBody = DefinitionBody.fromChainable(Pass.jsonata(stack, `${id}Pass`));
  return new StateMachine(stack, id, { definitionBody, queryLanguage: QueryLanguage.JSONATA });
};
const server = new McpTaskServer(stack, 'Server', { auth: Auth.anonymous() });
const tool = { description: 'd', inputSchema: { type: 'object' } } as const;
server.addTool('direct', { ...tool, handler: handler('Direct') });
server.addTool('once', { ...tool, handler: handler('Once'), taskSupport: 'required' });
server.addTool('repeatable', {
  ...{ ...tool, handler: handler('Repeatable'), taskSupport: 'required', annotations: { idempotentHint: true } },
});
server.addTool('flow', { ...tool, stateMachine: machine('Flow') });
machine('Other');
