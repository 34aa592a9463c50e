import {
  CloudFormationClient,
  DescribeStackResourceCommand,
  ListStackResourcesCommand,
} from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { connect } from '../../../../bin/tasks/connect.ts';
import { SERVER_MARK, type ServerMark } from '../../../../functions/operator/server-mark.ts';

const cloudFormation = mockClient(CloudFormationClient);
const sts = mockClient(STSClient);
beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
});
afterEach(() => {
  cloudFormation.reset();
  sts.reset();
  vi.unstubAllEnvs();
});
afterAll(() => {
  cloudFormation.restore();
  sts.restore();
});

const at = (minute: number) => new Date(minute * 60_000);
const resource = (LogicalResourceId: string, ResourceType: string, minute = 0) => ({
  ...{
    LogicalResourceId,
    ResourceType,
    PhysicalResourceId: `physical ${LogicalResourceId}${LogicalResourceId === 'Workflow' ? '-standard' : ''}`,
  },
  ...{ LastUpdatedTimestamp: at(minute), ResourceStatus: 'CREATE_COMPLETE' as const },
});
const MARK: ServerMark = {
  ...{
    table: 'Tasks',
    results: 'Results',
    workflow: 'Workflow',
    deadLetters: { events: 'Letters' },
    logs: { endpoint: 'Logs', gone: 'Gone' },
  },
  tools: {
    plain: { timeout: 1_000 },
    all: {
      ...{ stateMachine: 'Machine', handler: 'Handler', logs: 'ToolLogs', repeatable: true },
      ...{ engine: 'express', timeout: 2_000, ttl: 3_000, scopes: ['a'] },
    },
  },
};

/** A stack with these endpoints, which say this of their servers. */
function stackOf(endpoints: Readonly<Record<string, ServerMark | undefined>>, StackName = 'Shop') {
  const names = Object.keys(endpoints);
  const [first, second] = [
    names.map((name) => resource(name, 'AWS::Lambda::Function')),
    [
      ...['Tasks', 'Results', 'Letters', 'Logs', 'ToolLogs'].map((name) => resource(name, 'AWS::X')),
      ...[resource('Workflow', 'AWS::X', 3), resource('Machine', 'AWS::X', 5), resource('Handler', 'AWS::X', 4)],
      // Not a function, and not an endpoint.
      ...[resource('OtherEndpoint00000000', 'AWS::SQS::Queue'), resource('Function00000000', 'AWS::Lambda::Function')],
    ],
  ];
  cloudFormation
    .on(ListStackResourcesCommand, { StackName })
    .resolves({ StackResourceSummaries: first, NextToken: '2' })
    .on(ListStackResourcesCommand, { StackName, NextToken: '2' })
    .resolves({ StackResourceSummaries: second });
  for (const [LogicalResourceId, mark] of Object.entries(endpoints)) {
    const Metadata = mark && JSON.stringify({ [SERVER_MARK]: mark, 'aws:cdk:path': 'x' });
    cloudFormation
      .on(DescribeStackResourceCommand, { StackName, LogicalResourceId })
      .resolves({ StackResourceDetail: Metadata === undefined ? {} : { Metadata } } as never);
  }
}
const ENDPOINT = 'ServerEndpoint0A1B2C3D';
const around = { folder: '/', audit: () => {} };
const connected = (target: object = {}) => connect({ stack: 'Shop', region: 'eu-west-1', ...target }, around);

describe('the server of a stack', () => {
  test('is known with its table, its queues, its log groups and its tools', async () => {
    stackOf({ [ENDPOINT]: MARK });
    const { server, toolEngine } = await connected();
    expect({ ...server, tools: Object.fromEntries(server.tools) }).toEqual({
      ...{ name: 'Shop/Server', region: 'eu-west-1', table: 'physical Tasks', bucket: 'physical Results' },
      machineArnPrefix: 'physical Workflow-',
      deadLetters: { events: 'physical Letters' },
      logGroups: { endpoint: 'physical Logs', gone: '' },
      tools: {
        plain: { repeatable: false, timeout: 1_000 },
        all: {
          ...{ stateMachineArn: 'physical Machine', logGroup: 'physical ToolLogs' },
          ...{ repeatable: true, engine: 'express', timeout: 2_000, ttl: 3_000, scopes: ['a'], changedAt: 5 * 60_000 },
        },
      },
    });
    expect([toolEngine('all'), toolEngine('plain'), toolEngine('none')]).toEqual(['express', undefined, undefined]);
  });

  test('is chosen by its name, where there is more than one', async () => {
    stackOf({ [ENDPOINT]: MARK, OtherEndpointFFFFFFFF: { ...MARK, table: 'Logs' }, OldEndpoint00000000: undefined });
    const message = 'The stack Shop has these servers: Server, Other. Choose one by --server';
    await expect(connected()).rejects.toThrow(message);
    await expect(connected({ server: 'Old' })).rejects.toThrow(message);
    expect((await connected({ server: 'Other' })).server).toMatchObject({ name: 'Shop/Other', table: 'physical Logs' });
  });

  test('without one says to deploy it, and a stack that is not there is an error of AWS', async () => {
    stackOf({ OldEndpoint00000000: undefined });
    await expect(connected()).rejects.toThrow('The stack Shop has no server that these commands know');
    cloudFormation.reset();
    cloudFormation.on(ListStackResourcesCommand).rejects(new Error('Stack with id Nope does not exist'));
    await expect(connected({ stack: 'Nope' })).rejects.toThrow('does not exist');
  });
});

test('who acts is the identity of the credentials', async () => {
  stackOf({ [ENDPOINT]: MARK });
  const { who } = await connected();
  sts.on(GetCallerIdentityCommand).resolvesOnce({ Arn: 'arn:aws:iam::1:user/ann' }).resolves({});
  expect([await who(), await who()]).toEqual(['arn:aws:iam::1:user/ann', 'unknown']);
});

test('without a stack, and without a dev in the folder, the command says what to give', async () => {
  await expect(connect({}, around)).rejects.toThrow("No 'mcp-task-server dev' runs in this folder");
});
