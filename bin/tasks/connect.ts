import { userInfo } from 'node:os';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Act, OperatorContext } from '../../functions/operator/context.ts';
import { type AwsJson, awsJson } from '../../functions/tasks/aws/aws-json.ts';
import { dynamoDb } from '../../functions/tasks/aws/dynamodb.ts';
import type { AwsCredentials } from '../../functions/tasks/aws/signed-request.ts';
import { resultStore } from '../../functions/tasks/results/result-store.ts';
import { inputStore } from '../../functions/tasks/s3/input-store.ts';
import { operatorReads } from '../../functions/tasks/table/operator-reads.ts';
import { taskStore } from '../../functions/tasks/table/store.ts';
import { workflow } from '../../functions/tasks/workflow.ts';
import { awsQuery, element } from './aws-query.ts';
import { findDevSession } from './dev-session.ts';
import { discover } from './discover.ts';
import { UsageError } from './usage-error.ts';

/** Which server the verbs act on. */
export interface Target {
  /** A deployed stack. @default the running `dev` */
  readonly stack?: string | undefined;
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  /** The construct id of the server, if its stack has more than one. */
  readonly server?: string | undefined;
  /** The process of the `dev`, where several run in the folder. */
  readonly pid?: number | undefined;
}

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly audit: (act: Act) => void;
}

/** Where the services are, and with which credentials. */
interface Access {
  readonly region: string;
  readonly credentials: () => Promise<AwsCredentials>;
  readonly endpoint: (service: string) => string | undefined;
}

/** Of one attempt, in ms. */
const TIMEOUT = 10_000;

/** Throws UsageError, OperatorError, and errors of AWS. */
export async function connect(target: Target, { env, folder, audit }: Surroundings): Promise<OperatorContext> {
  const dev = target.stack === undefined ? await findDevSession(folder, target.pid) : undefined;
  const access = dev === undefined ? await deployed(target, env) : local(dev.endpoint, dev.region);
  const { region, credentials } = access;
  const query = (service: string, version: string) =>
    awsQuery({ service, version, region, credentials, endpoint: access.endpoint(service) });
  const stacks = target.stack === undefined ? (dev?.stacks ?? []) : [target.stack];
  const server = await firstServer(stacks, (stack) =>
    discover(query('cloudformation', '2010-05-15'), region, stack, target.server),
  );
  const endpoint = access.endpoint('dynamodb');
  const options = { region, credentials, requestTimeout: TIMEOUT, attempts: 5, ...(endpoint && { endpoint }) };
  // The endpoint is that of the target. Variables of the environment count for a deployed server only.
  const db = dynamoDb(options, {});
  const json = (service: string, prefix: string, version: '1.0' | '1.1'): AwsJson =>
    awsJson({
      ...{ service, target: prefix, version, region, credentials },
      ...{ requestTimeout: TIMEOUT, attempts: 4, endpoint: access.endpoint(service) },
    });
  const states = json('states', 'AWSStepFunctions', '1.0');
  const s3 = access.endpoint('s3');
  const results = resultStore({ bucket: server.bucket, region, credentials, ...(s3 && { endpoint: s3 }) });
  const store = taskStore(db, server.table, 'operator');
  return {
    server,
    reads: operatorReads(db, server.table),
    store,
    // The verbs name each workflow by its whole ARN.
    workflow: workflow(states, ''),
    inputs: inputStore(results),
    machineOf(tool) {
      const { machineArn: id, express = false } = server.tools.get(tool) ?? {};
      return id === undefined ? undefined : { id, express };
    },
    log: () => {},
    results,
    states,
    logs: json('logs', 'Logs_20140328', '1.1'),
    sqs: json('sqs', 'AmazonSQS', '1.0'),
    who: async () => {
      if (dev !== undefined) return userInfo().username;
      return element(await query('sts', '2011-06-15')('GetCallerIdentity', {}), 'Arn') ?? 'unknown';
    },
    audit,
    now: Date.now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

const local = (endpoint: string, region: string): Access => ({
  region,
  credentials: async () => ({ accessKeyId: 'operator', secretAccessKey: 'local' }),
  endpoint: () => endpoint,
});

/** Region and credentials as the AWS CLI finds them: profiles and SSO, too. */
async function deployed({ region: wanted, profile }: Target, env: NodeJS.ProcessEnv): Promise<Access> {
  const { config } = new DynamoDBClient({ ...(wanted && { region: wanted }), ...(profile && { profile }) });
  const region = await config.region().catch(() => {
    throw new UsageError('Which region? Give --region, or set AWS_REGION');
  });
  return {
    region,
    credentials: () => config.credentials(),
    endpoint: (service) =>
      env[`AWS_ENDPOINT_URL_${VARIABLES[service] ?? service.toUpperCase()}`] ?? env.AWS_ENDPOINT_URL,
  };
}

/** Where the variable of a service does not have the name of its host. */
const VARIABLES: Readonly<Record<string, string>> = { states: 'SFN', logs: 'CLOUDWATCH_LOGS' };

/** The stacks of `dev` may be more than that of its server. */
async function firstServer<T>(stacks: readonly string[], find: (stack: string) => Promise<T>): Promise<T> {
  for (const [i, stack] of stacks.entries()) {
    try {
      return await find(stack);
    } catch (error) {
      if (i === stacks.length - 1) throw error;
    }
  }
  throw new UsageError('Which stack? Give --stack NAME');
}
