import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Cloud } from '../../../local/cloud.ts';
import { legacySession, runTask } from '../../support/clients.ts';
import { campaign, explain, type Plan, type Report, type Target } from './campaign.ts';
import { calls, overHttp } from './over-http.ts';

export interface CloudReport extends Report {
  /** The problems, for people; empty if there are none. */
  readonly problems: readonly string[];
  /** How many tasks are in the table. */
  readonly stored: number;
}

/** The requests, and their measurement. */
export interface Kind extends Pick<Plan, 'calls' | 'bound'> {
  /** Sends requests in another way. `problems` has those that concern more than one answer. */
  readonly through?: (cloud: Cloud, target: Target) => Target & { readonly problems: readonly string[] };
}

/** With windows of a second; only the helper tool may wait longer. */
const USUAL: Kind = {
  calls,
  bound: ({ body }) => (body?.includes('get_task_result') === true ? 25_000 : 5_000),
};

/**
 * Fuzzes the endpoint of an embedded cloud that records its calls, and checks the state after it. @param kind its app must
 * have the tool `echo`; by default test/support/apps/app.ts
 */
export async function fuzzCloud(cloud: Cloud, seed: number, requests: number, kind = USUAL): Promise<CloudReport> {
  const target = overHttp(cloud);
  const through = kind.through?.(cloud, target);
  const secrets = [
    ...cloud.tables,
    ...cloud.buckets,
    ...cloud.lambda.workers().map(({ functionName }) => functionName),
  ];
  const plan = { seed, requests, calls: kind.calls, secrets, bound: kind.bound };
  const report = await campaign(through ?? target, plan);
  target.close();
  const created = target.created();
  const tasks = await settledTasks(cloud);
  const stored = new Set(tasks.keys());
  const stuck = new Set([...stored].filter((id) => tasks.get(id) === 'working'));
  const problems = [
    ...(report.failures.length > 0 ? [explain(report, plan)] : []),
    ...(through?.problems ?? []),
    ...missing('a client has the id of a task that is not stored', report.named, stored),
    ...missing('a task is stored that the endpoint did not accept', stored, created),
    ...missing('a task that the endpoint accepted is not stored', created, stored),
    ...missing('a task is stuck', stuck, new Set()),
    ...(await afterwards(cloud)),
  ];
  return { ...report, problems, stored: stored.size };
}

/** A normal call works, in both revisions. */
async function afterwards(cloud: Cloud): Promise<string[]> {
  const url = `${cloud.url}/mcp`;
  const modern = await runTask(url, 'echo', { still: 'here' });
  const session = await legacySession(url);
  const legacy = await session.request('tools/call', { name: 'echo', arguments: { still: 'here' } });
  return [modern.result, legacy.body.result].flatMap((result) =>
    result?.structuredContent?.still === 'here'
      ? []
      : [`a normal call does not work any more: ${JSON.stringify(result)}`],
  );
}

/** The tasks in the table, by status, once no tool works any more or 20 s have passed. */
export async function settledTasks(cloud: Pick<Cloud, 'endpoint' | 'region' | 'tables'>): Promise<Map<string, string>> {
  const { endpoint, region, tables } = cloud;
  const client = new DynamoDBClient({
    endpoint,
    region,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  // A new object for each scan: the SDK's paginator writes its token into the one it gets, and starts from it.
  const scan = () => ({
    TableName: tables[0],
    ProjectionExpression: 'taskId, #status',
    ExpressionAttributeNames: { '#status': 'status' },
  });
  for (const started = Date.now(); ; await sleep(200)) {
    const tasks = new Map<string, string>();
    for await (const { Items = [] } of paginateScan({ client: DynamoDBDocumentClient.from(client) }, scan())) {
      // Beside the tasks lie notes of sessions and owners, and what runs write: none of it has a status.
      for (const { taskId, status } of Items) if (status !== undefined) tasks.set(String(taskId), String(status));
    }
    if (![...tasks.values()].includes('working') || Date.now() - started > 300_000) {
      client.destroy();
      return tasks;
    }
  }
}

function missing(what: string, from: ReadonlySet<string>, among: ReadonlySet<string>): string[] {
  const ids = [...from].filter((id) => !among.has(id));
  return ids.length === 0
    ? []
    : [`${what}: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ` and ${ids.length - 5} more` : ''}`];
}
