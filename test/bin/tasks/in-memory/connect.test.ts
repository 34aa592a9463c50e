import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  CloudFormationClient,
  DescribeStackResourceCommand,
  ListStackResourcesCommand,
} from '@aws-sdk/client-cloudformation';
import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { connect } from '../../../../bin/tasks/connect.ts';
import { SERVER_MARK, type ServerMark } from '../../../../functions/operator/server-mark.ts';
import { failure } from '../../../../functions/tasks/failures.ts';
import { fail } from '../../../../functions/tasks/transitions/end.ts';
import { close, listen } from '../../../../local/testing.ts';
import { arnOf, KEY, T0 } from '../../../functions/operator/operators.ts';

const cloudFormation = mockClient(CloudFormationClient);
const sts = mockClient(STSClient);
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mcp-connect-'));
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
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
    PhysicalResourceId: LogicalResourceId === 'Workflow' ? 'standard-shop-standard' : `physical ${LogicalResourceId}`,
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
      ...['Tasks', 'Results', 'Letters', 'Logs', 'ToolLogs', 'Api'].map((name) => resource(name, 'AWS::X')),
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
      machineArnPrefix: 'standard-shop-',
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

  test.each([
    ['eu-west-1', 'amazonaws.com'],
    ['cn-north-1', 'amazonaws.com.cn'],
    ['eusc-de-east-1', 'amazonaws.eu'],
  ])('has a URL with the host names of its region: %s', async (region, suffix) => {
    stackOf({ [ENDPOINT]: { ...MARK, api: 'Api', url: 'https://{api}.execute-api.{region}.{suffix}/prod' } });
    const { server } = await connected({ region });
    expect(server.url).toBe(`https://physical Api.execute-api.${region}.${suffix}/prod`);
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

describe('region and credentials', () => {
  const inFiles = (config: string) => {
    const file = join(folder, 'config');
    writeFileSync(file, config);
    vi.stubEnv('AWS_CONFIG_FILE', file);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'));
    for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined);
  };

  test('come from the profile', async () => {
    const keys = 'aws_access_key_id = of-shop\naws_secret_access_key = secret';
    inFiles(`[profile shop]\nregion = eu-north-1\n${keys}\n`);
    stackOf({ [ENDPOINT]: MARK });
    const { server, who } = await connected({ region: undefined, profile: 'shop' });
    sts.on(GetCallerIdentityCommand).callsFake(async (_input, client: () => STSClient) => ({
      Arn: (await client().config.credentials()).accessKeyId,
    }));
    expect([server.region, await who()]).toEqual(['eu-north-1', 'of-shop']);
  });

  test('a region has to be given, or known', async () => {
    inFiles('');
    await expect(connected({ region: undefined })).rejects.toThrow('Which region? Give --region, or set AWS_REGION');
  });
});

/** A `dev` of the own user in the folder. Its embedded cloud answers at this endpoint. */
function dev(stacks: readonly string[], endpoint = 'http://127.0.0.1:9') {
  const session = join(folder, 'cdk.out/mcp-task-server-dev/1');
  mkdirSync(session, { recursive: true, mode: 0o755 });
  const said = { pid: process.pid, endpoint, region: 'us-east-1', stacks, url: 'http://127.0.0.1:3000/mcp-shop/mcp' };
  writeFileSync(join(session, 'server.json'), JSON.stringify(said), { mode: 0o600 });
  sts.on(GetCallerIdentityCommand).resolves({ Arn: 'arn:aws:iam::0:user/cloud' });
  return connect({}, { ...around, folder });
}

describe('the server of a dev', () => {
  test('is in its region and at its URL, and the user of this machine acts', async () => {
    stackOf({ [ENDPOINT]: MARK });
    const { server, who } = await dev(['Shop']);
    expect(server).toMatchObject({ name: 'Shop/Server', region: 'us-east-1', url: 'http://127.0.0.1:3000/mcp-shop' });
    expect(await who()).toBe(userInfo().username);
  });

  test('is in the first of its stacks that has one', async () => {
    stackOf({ OldEndpoint00000000: undefined }, 'Old');
    stackOf({ [ENDPOINT]: MARK });
    expect((await dev(['Old', 'Shop'])).server.name).toBe('Shop/Server');
    await expect(dev(['Old'])).rejects.toThrow('The stack Old has no server that these commands know');
    await expect(dev([])).rejects.toThrow('Which stack? Give --stack NAME');
  });
});

describe('all that an operator does', () => {
  let cloud: Server;
  let endpoint = '';
  let asked: { readonly what: string; readonly by: string; readonly body: string }[] = [];
  beforeAll(async () => {
    cloud = createServer((request, response) => {
      const { method, url, headers } = request;
      const what = headers['x-amz-target']?.toString() ?? `${method} ${url?.split('?')[0]}`;
      const by = /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1] ?? '';
      void text(request).then((body) => {
        asked.push({ what, by, body });
        response.setHeader('content-type', 'application/x-amz-json-1.0').end('{}');
      });
    });
    endpoint = await listen(cloud, 0);
  });
  afterAll(() => close(cloud));
  beforeEach(() => {
    asked = [];
  });

  test('on a dev goes to its embedded cloud, with the rights of an operator', async () => {
    stackOf({ [ENDPOINT]: MARK });
    const { reads, store, results, states, logs, sqs } = await dev(['Shop'], endpoint);
    await reads.get(KEY, false);
    await store.applyBlind(KEY, fail(failure('EndedByOperator'), T0));
    await results.get({ ...KEY, round: 1 });
    await states.send(new DescribeExecutionCommand({ executionArn: arnOf() }));
    await logs.send(new FilterLogEventsCommand({ logGroupName: '/e' }));
    await sqs.send(new GetQueueAttributesCommand({ QueueUrl: 'http://127.0.0.1:9/1/letters' }));
    expect(asked.map(({ what }) => what)).toEqual([
      ...['DynamoDB_20120810.Query', 'DynamoDB_20120810.UpdateItem'],
      expect.stringMatching(/^GET \/physical%20Results\/results\//),
      ...['AWSStepFunctions.DescribeExecution', 'Logs_20140328.FilterLogEvents', 'AmazonSQS.GetQueueAttributes'],
    ]);
    expect(new Set(asked.map(({ by }) => by))).toEqual(new Set(['operator']));
    // The event of the record names what wrote it.
    expect(asked[1]?.body).toContain('"by":{"S":"operator"}');
  });

  test('goes to the endpoint in the environment, also to queues, whose URLs name another host', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
    stackOf({ [ENDPOINT]: MARK });
    const { sqs } = await connected();
    await sqs.send(new GetQueueAttributesCommand({ QueueUrl: 'http://127.0.0.1:9/1/letters' }));
    expect(asked).toMatchObject([{ what: 'AmazonSQS.GetQueueAttributes', by: 'a' }]);
  });

  test('between two attempts waits as long as it should', async () => {
    stackOf({ [ENDPOINT]: MARK });
    const { sleep } = await connected();
    vi.useFakeTimers();
    let over = false;
    void sleep(100).then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(99);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(over).toBe(true);
    vi.useRealTimers();
  });
});

test('without a stack, and without a dev in the folder, the command says what to give', async () => {
  await expect(connect({}, around)).rejects.toThrow("No 'mcp-task-server dev' runs in this folder");
});
