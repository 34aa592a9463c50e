import { expect, test } from 'vitest';
import { modernRequest } from '../support/clients.ts';
import { APP, developed } from './developed.ts';

/** An app with tools that the embedded cloud cannot run, each for another reason. */
const REFUSED = `${APP}
import { LambdaRestApi } from 'aws-cdk-lib/aws-apigateway';
import { Function, FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { DefinitionBody, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';

const asked = { description: 'd', inputSchema: { type: 'object' } };
function machine(id, state, substitutions) {
  const definition = { QueryLanguage: 'JSONata', StartAt: 'The state', States: { 'The state': { Type: 'Task', End: true, ...state } } };
  const definitionBody = DefinitionBody.fromString(JSON.stringify(definition));
  return new StateMachine(stack, id, { definitionBody, definitionSubstitutions: substitutions });
}
const Resource = 'arn:aws:states:::ecs:runTask.sync';
server.addTool('approve', { ...asked, stateMachine: machine('Approve', { Resource }) });
const TopicArn = '\${Topic}';
const submit = { Resource: 'arn:aws:states:::batch:submitJob', Arguments: { TopicArn } };
server.addTool('notify', { ...asked, stateMachine: machine('Notify', submit, { Topic: topic.topicArn }) });

const page = new ToolFunction(stack, 'Page', { entry: 'hello.ts' });
const URL = page.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM }).url;
const mail = new ToolFunction(stack, 'Mail', { entry: 'hello.ts', environment: { URL } });
server.addTool('mail', { ...asked, handler: mail, taskSupport: 'optional' });
const calls = { Resource: 'arn:aws:states:::lambda:invoke', Arguments: { FunctionName: '\${Mail}' } };
server.addTool('mail_later', { ...asked, stateMachine: machine('Later', calls, { Mail: mail.functionArn }) });

const other = new LambdaRestApi(stack, 'Other', { handler: page }).url;
server.addTool('report', { ...asked, handler: new ToolFunction(stack, 'Report', { entry: 'hello.ts', environment: { other } }) });
const imported = 'arn:aws:lambda:us-east-1:000000000000:function:theirs';
server.addTool('theirs', { ...asked, handler: Function.fromFunctionArn(stack, 'Theirs', imported), taskSupport: 'optional' });
`;
const { session, call, printed, printedAtStart, until } = developed(REFUSED);

/** Why each tool cannot run. */
const REASONS = {
  approve:
    /state machine 'Shop-Approve\w+', state 'The state', field 'Resource': .* 'arn:aws:states:::ecs:runTask.sync'/,
  mail: /does not know AuthType "AWS_IAM" of AWS::Lambda::Url \(.*Page\/FunctionUrl\/Resource\)/,
  mail_later: /does not know AuthType "AWS_IAM" of AWS::Lambda::Url/,
  report: /Shop\/Report\/Resource\) names AWS::ApiGateway::\w+ \(stack Shop, Other/,
  notify: /state machine 'Shop-Notify\w+', state 'The state', field 'Resource': .* 'arn:aws:states:::batch:submitJob'/,
  theirs: /its function or state machine is not in the stack of the server/,
};

test('says at the start which tools cannot run here, each once, and runs all others', async () => {
  const said = printedAtStart().filter((line) => line.includes('cannot run here'));
  expect(said.sort()).toEqual(
    Object.entries(REASONS)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([tool, reason]) =>
        expect.stringMatching(new RegExp(`✗ tool '${tool}' cannot run here: .*${reason.source}`)),
      ),
  );
  expect(await call('hello')).toBe('hello, world');
});

test.each(['approve', 'notify', 'mail', 'mail_later'] as const)(
  'a task of %s fails, and the terminal says why',
  async (name) => {
    printed.length = 0;
    const { body } = await modernRequest(`${session().url}/mcp`, 'tools/call', { name, arguments: {} });
    const { taskId } = body.result;
    await until(REASONS[name]);
    await until(new RegExp(`✗ ${name} ….{10} failed: NotRunLocally`));
    const { result } = (await modernRequest(`${session().url}/mcp`, 'tasks/get', { taskId })).body;
    expect(result).toMatchObject({ status: 'failed', error: { message: 'The tool failed' } });
    expect(JSON.stringify(result)).not.toMatch(/embedded|AWS::|arn:/);
  },
);

test('a call without a task fails in the same way', async () => {
  await expect(call('report')).rejects.toThrow('The tool failed');
  await until(REASONS.report);
});

test('a function of another stack is missed by its task, and the terminal points to the start', async () => {
  const { body } = await modernRequest(`${session().url}/mcp`, 'tools/call', { name: 'theirs', arguments: {} });
  expect(body.result.taskId).toBeDefined();
  await until(/✗ theirs ….{10} failed: Lambda.ResourceNotFoundException \(its function does not run here/);
});
