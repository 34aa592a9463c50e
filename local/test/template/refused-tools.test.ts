import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, test } from 'vitest';
import { type Cloud, startCloud } from '../../cloud.ts';
import {
  adminRole,
  clientConfig,
  functionResource,
  ofServer,
  serverResources,
  tableResource,
  writeAssembly,
} from '../fixture.ts';

const clouds: Cloud[] = [];
afterEach(async () => {
  for (const cloud of clouds.splice(0)) await cloud.stop();
});

const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const ref = (Ref: string) => ({ Ref });
const fn = (more: object = {}) => functionResource('code', { Role: arnOf('Role'), ...more });
const policy = (role: string, Condition: object) => ({
  Type: 'AWS::IAM::Policy',
  Properties: {
    PolicyName: 'p',
    Roles: [ref(role)],
    PolicyDocument: { Statement: { Effect: 'Allow', Action: 'a:B', Resource: '*', Condition } },
  },
});
const unknownCondition = { DateLessThan: { 'aws:CurrentTime': 'x' } };
const machine = (states: object, QueryLanguage = 'JSONata', substitutions: object = {}) => ({
  Type: 'AWS::StepFunctions::StateMachine',
  Properties: {
    RoleArn: arnOf('MachineRole'),
    DefinitionString: JSON.stringify({ QueryLanguage, StartAt: 'A', States: states }),
    DefinitionSubstitutions: substitutions,
  },
});

/** An app with a server, whose tools `good` and `tool` are the functions `Good` and `Tool`. */
function appOf(resources: Record<string, object>, more: object = {}, machines: readonly string[] = []) {
  const machineTools = machines.map((id) => [id.toLowerCase(), { stateMachine: id }]);
  const tools = { good: { handler: 'Good' }, tool: { handler: 'Tool' }, ...Object.fromEntries(machineTools) };
  const common = { ...serverResources(tools), Role: adminRole('lambda'), MachineRole: adminRole('states') };
  return writeAssembly({
    resources: { ...common, Good: fn(), Tool: fn(), ...resources },
    assets: { code: 'export const handler = async () => "ran";' },
    more,
  });
}

async function run(assembly: string): Promise<Cloud> {
  const cloud = await startCloud({ assembly, lenient: true });
  clouds.push(cloud);
  return cloud;
}

const secondRole = adminRole('lambda');
const replicas = { Replicas: [{ Region: 'us-east-1' }, { Region: 'eu-west-1' }] };

describe('a tool that cannot run is refused by name, and all others run', () => {
  test.each<[string, Record<string, object>, RegExp]>([
    [
      'its runtime',
      { Tool: fn({ Runtime: 'java25' }) },
      /does not know Runtime "java25" of AWS::Lambda::Function .*Tool/,
    ],
    ['its environment', { Tool: fn({ Environment: { Variables: { A: 'x'.repeat(5_000) } } }) }, /of at most 4096/],
    ['an intrinsic function', { Tool: fn({ Timeout: { 'Fn::Length': [] } }) }, /does not know Fn::Length .*Tool/],
    [
      'a policy of AWS on its role',
      {
        Tool: fn({ Role: arnOf('Other') }),
        Other: {
          ...secondRole,
          Properties: { ManagedPolicyArns: ['arn:aws:iam::aws:policy/ReadOnlyAccess'], AssumeRolePolicyDocument: {} },
        },
      },
      /does not know the policy arn:aws:iam::aws:policy\/ReadOnlyAccess .*Other/,
    ],
    [
      'a condition in a policy of its role',
      { Tool: fn({ Role: arnOf('Other') }), Other: secondRole, Policy: policy('Other', unknownCondition) },
      /the condition operator DateLessThan .*Policy/,
    ],
    [
      'a table with two replicas',
      { Tool: fn({ Environment: { Variables: { T: ref('Table') } } }), Table: tableResource(replicas) },
      /does not know Replicas .*Table/,
    ],
  ])('for %s', async (_why, resources, reason) => {
    const assembly = appOf(resources);
    const cloud = await run(assembly);
    expect([...cloud.refusedTools()]).toEqual([['tool', expect.stringMatching(reason)]]);
    const refused = await cloud.lambda.invoke('Test-Tool', '{}');
    expect(refused.functionError).toBe('Unhandled');
    expect(JSON.parse(refused.payload)).toMatchObject({
      errorType: 'NotRunLocally',
      errorMessage: expect.stringMatching(reason),
    });
    expect(await cloud.lambda.invoke('Test-Good', '{}')).toMatchObject({ payload: '"ran"' });
    await expect(startCloud({ assembly })).rejects.toThrow(reason);
  });

  test('for a state machine, and for one that needs a refused resource', async () => {
    const Resource = 'arn:aws:states:::lambda:invoke';
    const calls = machine(
      { A: { Type: 'Task', Resource, Arguments: { FunctionName: '${Tool}' }, End: true } },
      'JSONata',
      {
        Tool: arnOf('Tool'),
      },
    );
    const resources = {
      Tool: fn({ Runtime: 'java25' }),
      Works: machine({ A: { Type: 'Succeed' } }),
      Paths: machine({ A: { Type: 'Succeed' } }, 'JSONPath'),
      Calls: calls,
    };
    const cloud = await run(appOf(resources, {}, ['Works', 'Paths', 'Calls']));
    expect(Object.fromEntries(cloud.refusedTools())).toEqual({
      tool: expect.stringContaining('java25'),
      paths: "state machine 'Test-Paths', state 'A', field 'QueryLanguage': must be 'JSONata'",
      calls: expect.stringContaining('java25'),
    });
    const states = new SFNClient(clientConfig(cloud));
    const ends = async (name: string) => {
      const stateMachineArn = `arn:aws:states:us-east-1:000000000000:stateMachine:Test-${name}`;
      const { executionArn = '' } = await states.send(new StartExecutionCommand({ stateMachineArn }));
      await cloud.stepFunctions.closed(executionArn);
      return states.send(new DescribeExecutionCommand({ executionArn }));
    };
    expect(await ends('Works')).toMatchObject({ status: 'SUCCEEDED' });
    expect(await ends('Paths')).toMatchObject({
      ...{ status: 'FAILED', error: 'NotRunLocally' },
      cause: expect.stringContaining("must be 'JSONata'"),
    });
    expect(await ends('Calls')).toMatchObject({ status: 'FAILED', error: 'NotRunLocally' });
  });

  test('an output that cannot be read is left out', async () => {
    const Outputs = { Bad: { Value: { 'Fn::FindInMap': ['a', 'b', 'c'] } }, Tool: { Value: ref('Tool') } };
    expect((await run(appOf({}, { Outputs }))).outputs).toEqual({ Tool: 'Test-Tool' });
  });
});

describe('a resource of the server itself is refused at the start', () => {
  test.each<[string, Record<string, object>, RegExp]>([
    ['its table', { Tasks: { ...tableResource(replicas), ...ofServer('Tasks') } }, /does not know Replicas/],
    ['a policy on its role', { Policy: policy('ServerRole', unknownCondition) }, /DateLessThan/],
  ])('%s', async (_what, resources, reason) => {
    await expect(run(appOf(resources))).rejects.toThrow(reason);
  });
});

test('a deployment that changes why a tool cannot run shows the new reason', async () => {
  const cloud = await run(appOf({ Tool: fn({ Runtime: 'java25' }) }));
  const { refused } = cloud.redeploy(appOf({ Tool: fn({ Runtime: 'ruby3.4' }) }));
  expect(refused).toEqual([]);
  expect(cloud.refusedTools().get('tool')).toContain('ruby3.4');
  expect((await cloud.lambda.invoke('Test-Tool', '{}')).payload).toContain('ruby3.4');
  // Only a new cloud can run a refused tool.
  expect(cloud.redeploy(appOf({})).refused).toEqual(['AWS::Lambda::Function Tool']);
});
