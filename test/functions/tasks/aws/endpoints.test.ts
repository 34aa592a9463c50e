import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterEach, expect, test, vi } from 'vitest';
import { dynamoDb } from '../../../../functions/tasks/aws/dynamodb.ts';
import { eventPutter } from '../../../../functions/tasks/aws/eventbridge.ts';
import { invocations } from '../../../../functions/tasks/aws/lambda.ts';
import { objects } from '../../../../functions/tasks/aws/s3.ts';
import { secretReader } from '../../../../functions/tasks/aws/secrets-manager.ts';
import { stepFunctions } from '../../../../functions/tasks/aws/step-functions.ts';
import { workflow } from '../../../../functions/tasks/aws/workflow.ts';
import { record } from '../../reconciler/fake-context.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const once = { requestTimeout: 1_000, attempts: 1 };
const { signal } = new AbortController();

/** The hosts that the clients of the functions call. */
async function hosts(region: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  for (const [name, value] of Object.entries({ ...env, AWS_REGION: region })) vi.stubEnv(name, value);
  const offline = Object.assign(new Error('offline'), { name: 'AccessDenied' });
  const handle = vi.spyOn(NodeHttpHandler.prototype, 'handle').mockRejectedValue(offline);
  const calls = [
    () => dynamoDb(once).get({ TableName: 'T', Key: { owner: 'o' } }),
    () => workflow(stepFunctions(once), 'arn:stateMachine:').start(record(), '{}'),
    () => objects('bucket', once).put('key', 'text', signal),
    () => invocations(once)('function', '{}', signal),
    () => eventPutter('bus', once)([{}]),
    () => secretReader()('secret', 'AWSCURRENT'),
  ];
  for (const call of calls) await expect(call()).rejects.toThrow();
  return handle.mock.calls.map(([{ hostname }]) => hostname);
}

const SERVICES = ['dynamodb', 'states', 'bucket.s3', 'lambda', 'events', 'secretsmanager'];
const inRegion = (region: string, suffix: string, mark = '') =>
  SERVICES.map((service) => `${service}${mark}.${region}.${suffix}`);

test.each([
  ['eu-west-1', 'amazonaws.com'],
  ['us-gov-west-1', 'amazonaws.com'],
  ['cn-north-1', 'amazonaws.com.cn'],
  ['eusc-de-east-1', 'amazonaws.eu'],
  ['us-iso-east-1', 'c2s.ic.gov'],
  ['us-isob-east-1', 'sc2s.sgov.gov'],
])('in %s every call goes to a host of its partition', async (region, suffix) => {
  expect(await hosts(region)).toEqual(inRegion(region, suffix));
});

test('AWS_USE_FIPS_ENDPOINT chooses the hosts of every service', async () => {
  const own = inRegion('us-east-1', 'amazonaws.com', '-fips');
  expect(await hosts('us-east-1', { AWS_USE_FIPS_ENDPOINT: 'true' })).toEqual(own);
});

test('AWS_USE_DUALSTACK_ENDPOINT chooses the hosts of every service', async () => {
  const own = inRegion('eu-west-1', 'api.aws').with(2, 'bucket.s3.dualstack.eu-west-1.amazonaws.com');
  // This service has one host for both.
  const all = own.with(5, 'secretsmanager.eu-west-1.amazonaws.com');
  expect(await hosts('eu-west-1', { AWS_USE_DUALSTACK_ENDPOINT: 'true' })).toEqual(all);
});
