import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { bundleEndpoint } from '../../../lib/bundles.ts';
import { modernMessage } from '../../support/clients.ts';
import { environment, type Handler, manifest, posted, streaming } from '../endpoint/endpoint.ts';
import { digits } from '../report/page.ts';
import type { Arm } from '../report/row.ts';
import { interleaved, paired, quantile, timed } from '../report/statistics.ts';

const WARM_ROUNDS = 300;
const ROUNDS = 400;

/** What the endpoint adds to its calls to AWS, once it is warm. */
export const warm: Arm = {
  title: 'Warm requests',
  about:
    'One process with two handlers and nothing of a network but 127.0.0.1, where a second process answers for AWS at ' +
    'once: so this is processor time. The bare handler is what somebody writes who needs no more than one item: the ' +
    'official AWS clients, one PutItem and one StartExecution for a create, one consistent GetItem for a poll. The ' +
    'endpoint checks and validates besides, and its poll reads the report of the run as well.',
  async run() {
    const double = fork(join(import.meta.dirname, 'double.ts'));
    const folder = mkdtempSync(join(tmpdir(), 'mcp-bench-warm-'));
    try {
      const [url] = (await once(double, 'message')) as [string];
      const { endpoint, bare } = handlers(folder, url);
      // A task may not be polled without end: each poll is of the newest one.
      let taskId = await endpoint.create();
      const create = async () => {
        taskId = await endpoint.create();
      };
      const kinds = {
        'bare handler, create': () => timed(bare.create),
        'endpoint, create': () => timed(create),
        'bare handler, poll': () => timed(bare.poll),
        'endpoint, poll': () => timed(() => endpoint.poll(taskId)),
      };
      await interleaved(WARM_ROUNDS, kinds);
      const samples = await interleaved(ROUNDS, kinds);
      return Object.entries(samples).map(([what, times]) => {
        const base = what.replace('endpoint', 'bare handler') as keyof typeof kinds;
        return {
          what,
          measured: `${[0.5, 0.95, 0.99].map((share) => digits(quantile(times, share))).join(' / ')} ms`,
          ...(base !== what && { ratio: { ...paired(times, samples[base]), to: 'bare handler' } }),
        };
      });
    } finally {
      double.disconnect();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function handlers(folder: string, url: string) {
  Object.assign(process.env, { ...environment, AWS_ENDPOINT_URL: url, AWS_LAMBDA_FUNCTION_NAME: 'f' });
  Object.assign(globalThis, { awslambda: streaming });
  bundleEndpoint(manifest, (built) => cpSync(built, folder, { recursive: true }));
  const file = join(folder, 'index.js');
  const { handler } = createRequire(file)(file) as { handler: Handler };
  const ask = async (method: string, params: Record<string, unknown>) => {
    const { body, headers } = modernMessage(method, params);
    const { text } = await posted(handler, JSON.stringify(body), headers);
    const { result } = JSON.parse(text);
    if (result === undefined) throw new Error(text);
    return result;
  };
  const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const sfn = new SFNClient({});
  const TableName = 't';
  const Key = { owner: 'o', taskId: 'i' };
  const stateMachineArn = 'arn:aws:states:us-east-1:123456789012:stateMachine:s-m';
  let n = 0;
  return {
    endpoint: {
      create: async () => (await ask('tools/call', { name: 't', arguments: {} })).taskId as string,
      poll: (taskId: string) => ask('tasks/get', { taskId }),
    },
    bare: {
      async create() {
        const Item = { ...Key, status: 'working', tool: 't', createdAt: Date.now(), n: n++ };
        await db.send(new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(taskId)' }));
        await sfn.send(new StartExecutionCommand({ stateMachineArn, name: `i-${n}`, input: JSON.stringify(Item) }));
        return JSON.stringify(Item);
      },
      async poll() {
        const { Item } = await db.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
        return JSON.stringify(Item);
      },
    },
  };
}
