import { userInfo } from 'node:os';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { SQSClient } from '@aws-sdk/client-sqs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import type { Act, OperatorContext, ServerFacts } from '../../functions/operator/context.ts';
import { type ClientOptions, clientConfig, quiet } from '../../functions/tasks/aws/client.ts';
import { dynamoDb } from '../../functions/tasks/aws/dynamodb.ts';
import { stepFunctions } from '../../functions/tasks/aws/step-functions.ts';
import { workflow } from '../../functions/tasks/aws/workflow.ts';
import { resultStore } from '../../functions/tasks/results/result-store.ts';
import { inputStore } from '../../functions/tasks/s3/input-store.ts';
import { journalStore } from '../../functions/tasks/table/journal-items.ts';
import { operatorReads } from '../../functions/tasks/table/operator-reads.ts';
import { operatorEvents } from '../../functions/tasks/table/operators/events.ts';
import { taskStore } from '../../functions/tasks/table/store.ts';
import { accessTo, findDevSession } from './dev-session.ts';
import { discover } from './discover.ts';
import { UsageError } from './usage-error.ts';

export interface Target {
  /** A deployed stack. @default the running `dev` */
  readonly stack?: string | undefined;
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  /** The construct id of the server, if its stack has more than one. */
  readonly server?: string | undefined;
  /** The process id of the `dev`, if several run in the folder. */
  readonly pid?: number | undefined;
}

export interface Surroundings {
  readonly folder: string;
  readonly audit: (act: Act) => void;
}

type Access = Pick<ClientOptions, 'region' | 'credentials' | 'endpoint'>;

/** Timeout of one attempt, in milliseconds, and the number of attempts. */
const RETRIES = { requestTimeout: 10_000, attempts: 4 };

/** Connects to a server. Throws UsageError, OperatorError, and errors of AWS. */
export async function connect(target: Target, { folder, audit }: Surroundings): Promise<OperatorContext> {
  const dev = target.stack === undefined ? await findDevSession(folder, target.pid) : undefined;
  const access = dev === undefined ? await deployed(target) : accessTo(dev);
  const config = clientConfig({ ...RETRIES, ...access });
  const cloudFormation = new CloudFormationClient(config);
  const sts = new STSClient(config);
  const stacks = target.stack === undefined ? (dev?.stacks ?? []) : [target.stack];
  const found = await firstServer(stacks, (stack) => discover(cloudFormation, config.region, stack, target.server));
  const server = dev === undefined ? found : { ...found, url: dev.url.replace(/\/mcp$/, '') };
  const who = async () => {
    if (dev !== undefined) return userInfo().username;
    return (await sts.send(new GetCallerIdentityCommand())).Arn ?? 'unknown';
  };
  return contextOf(server, access, { who, audit });
}

/** What the verbs need to act on a server, by AWS clients that connect so. */
export function contextOf(
  server: ServerFacts,
  access: Access,
  acting: Pick<OperatorContext, 'who' | 'audit'>,
): OperatorContext {
  const options = { ...RETRIES, ...access };
  const config = clientConfig(options);
  const db = dynamoDb({ ...options, attempts: 5 });
  const states = stepFunctions(options);
  const results = resultStore({ bucket: server.bucket, ...access });
  return {
    ...acting,
    server,
    reads: operatorReads(db, server.table),
    store: taskStore(db, server.table, 'operator'),
    events: operatorEvents(db, server.table),
    journal: journalStore(db, server.table),
    workflow: workflow(states, server.machineArnPrefix),
    inputs: inputStore(results),
    toolEngine: (tool) => server.tools.get(tool)?.engine,
    log: () => {},
    results,
    states,
    logs: quiet(new CloudWatchLogsClient(config)),
    // The endpoint in the environment counts, not the host in the URL of a queue.
    sqs: quiet(new SQSClient({ ...config, useQueueUrlAsEndpoint: false })),
    now: Date.now,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

/** Finds region and credentials as the AWS CLI does, including profiles and SSO. */
async function deployed({ region: wanted, profile }: Target): Promise<Access> {
  const { config } = new STSClient({ ...(wanted && { region: wanted }), ...(profile && { profile }) });
  const region = await config.region().catch(() => {
    throw new UsageError('Which region? Give --region, or set AWS_REGION');
  });
  return { region, credentials: config.credentials };
}

/** Finds the first stack with a server: `dev` may run more stacks. */
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
