import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { CloudFormationClient, ListStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import {
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CreateEventSourceMappingCommand,
  type CreateEventSourceMappingCommandInput,
  GetEventSourceMappingCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { clientConfig } from '../../../local/test/fixture.ts';
import { INVOKE, useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, modernRequest, poll, runTask } from '../../support/clients.ts';

const MINUTE = 60_000;
// Only tables of the template meter calls.
const { cloud, url, records, start, sweepAfter } = useCrashCloud({ recordCalls: false });
const accept = { action: 'accept', content: { ok: true } };

const db = () => new DynamoDBClient(clientConfig(cloud()));
const table = () => cloud().tables[0] ?? '';
const stored = async (taskId: string) => (await records()).find((record) => record.taskId === taskId);
const get = async (taskId: string) => (await modernRequest(url(), 'tasks/get', { taskId })).body;
const waits = (taskId: string) => poll(url(), taskId, ({ status }) => status === 'input_required');
const answer = (taskId: string) =>
  modernRequest(url(), 'tasks/update', { taskId, inputResponses: { 'r1.confirm': accept } });
/** A task whose function has not begun, until the answer is called. */
async function held(): Promise<{ taskId: string; release: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const gate = cloud().faults.add({ ...INVOKE, do: { run: () => promise } });
  const taskId = await start('echo', { n: 1 });
  await gate.struck;
  return { taskId, release: resolve };
}

/**
 * The table as point-in-time recovery restores it: under a name, with keys and indexes, and without its time to live.
 * dynalite keeps no history, so what a restore would find at this moment is read now.
 */
async function snapshot(): Promise<(name: string) => Promise<void>> {
  const { Table } = await db().send(new DescribeTableCommand({ TableName: table() }));
  const { Items = [] } = await db().send(new ScanCommand({ TableName: table(), ConsistentRead: true }));
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes = [] } = Table ?? {};
  const indexes = GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => ({
    ...{ IndexName, KeySchema, Projection },
  }));
  return async (TableName) => {
    const schema = { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes: indexes };
    const isActive = async () =>
      (await db().send(new DescribeTableCommand({ TableName }))).Table?.TableStatus === 'ACTIVE';
    // A restored table has all its items when it exists: until then no workflow may find it without its own.
    const absent = cloud().faults.add({
      ...{ service: 'dynamodb', operation: 'UpdateItem', times: Number.POSITIVE_INFINITY },
      do: { error: 'ResourceNotFoundException', status: 400 },
    });
    await db().send(new CreateTableCommand({ TableName, ...schema, BillingMode: 'PAY_PER_REQUEST' }));
    await expect.poll(isActive).toBe(true);
    for (const Item of Items) await db().send(new PutItemCommand({ TableName, Item }));
    absent.remove();
  };
}

const lose = async (taskId: string) => {
  const { owner = '' } = (await stored(taskId)) ?? {};
  await db().send(new DeleteItemCommand({ TableName: table(), Key: { owner: { S: owner }, taskId: { S: taskId } } }));
};

/** The documented command. */
async function putBack(restored: string): Promise<string> {
  const env = {
    ...process.env,
    ...{ AWS_ENDPOINT_URL: cloud().endpoint, AWS_REGION: cloud().region },
    ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'local' },
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['bin/mcp-task-server.ts', 'put-back', restored, table()],
    { env },
  );
  return stdout.trim();
}

/** The rest of the runbook, after the restore. */
async function switchOn(): Promise<void> {
  const TableName = table();
  const expiry = { Enabled: true, AttributeName: 'expiresAt' };
  await db().send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: expiry }));
  await db().send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
  const stream = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const;
  await db().send(new UpdateTableCommand({ TableName, StreamSpecification: stream }));
  const { Table } = await db().send(new DescribeTableCommand({ TableName }));
  const lambda = new LambdaClient(clientConfig(cloud()));
  const old = await lambda.send(new GetEventSourceMappingCommand({ UUID: await mappingOfTemplate() }));
  const { UUID } = await lambda.send(
    new CreateEventSourceMappingCommand(documentedMapping({ ...old }, Table?.LatestStreamArn ?? '')),
  );
  const made = await lambda.send(new GetEventSourceMappingCommand({ UUID }));
  const own = { UUID, EventSourceArn: Table?.LatestStreamArn, $metadata: expect.anything() };
  expect(made).toEqual({ ...old, ...own });
}

async function mappingOfTemplate(): Promise<string | undefined> {
  const [StackName] = cloud().stacks;
  const stack = await new CloudFormationClient(clientConfig(cloud())).send(
    new ListStackResourcesCommand({ StackName }),
  );
  return stack.StackResourceSummaries?.find(({ ResourceType }) => ResourceType === 'AWS::Lambda::EventSourceMapping')
    ?.PhysicalResourceId;
}

/** What the `--query` of docs/recovery.md makes of the old mapping. */
function documentedMapping(old: Readonly<Record<string, unknown>>, stream: string) {
  const [, query = ''] = /--query "(\{FunctionName[^"]+)"/.exec(readFileSync('docs/recovery.md', 'utf8')) ?? [];
  const members = [...query.matchAll(/(\w+): (?:'([^']*)'|\{\w+: (\w+)[^}]*\}|(\w+))/g)].map(
    ([, name = '', text, ...path]) => [name, text?.replace('$STREAM', stream) ?? old[path.join('')]],
  );
  return Object.fromEntries(members) as CreateEventSourceMappingCommandInput;
}

/** The statuses of a task that were published. */
async function published(taskId: string): Promise<unknown[]> {
  await cloud().streams.drained();
  const details = cloud()
    .events.accepted()
    .map(({ event }) => event.detail as Record<string, unknown>);
  return details.filter((detail) => detail.taskId === taskId).map(({ status }) => status);
}

/** Nothing stays unfinished for ever, once all deadlines have passed and the sweep has come. */
async function nothingIsStuck(): Promise<void> {
  await sweepAfter(20 * MINUTE);
  const stuck = (await records()).filter(({ status, due }) => !/completed|failed|cancelled/.test(status) || due);
  expect(stuck).toEqual([]);
}

test('lost items come back, and nothing newer is overwritten', async () => {
  const done = await runTask(url(), 'echo', { n: 7 });
  const large = await runTask(url(), 'big', { bytes: 300_000 });
  const damaged = await runTask(url(), 'echo', { n: 8 });
  const [kept, late, runs, cancelled] = [await held(), await held(), await held(), await held()];
  const [asks, answered] = [await start('ask'), await start('ask')];
  await waits(asks);
  await waits(answered);
  await sweepAfter(MINUTE);
  const restore = await snapshot();

  // The moment has passed.
  kept.release();
  late.release();
  const outcome = await poll(url(), kept.taskId, ended);
  await poll(url(), late.taskId, ended);
  await modernRequest(url(), 'tasks/cancel', { taskId: cancelled.taskId });
  await answer(answered);
  await poll(url(), answered, ended);
  const newer = await held();
  for (const taskId of [done.taskId, large.taskId, late.taskId, runs.taskId, cancelled.taskId, asks, answered]) {
    await lose(taskId);
  }
  await lose(newer.taskId);
  const { owner, taskId } = (await stored(damaged.taskId)) as TaskRecord;
  const reset = new UpdateCommand({
    ...{ TableName: table(), Key: { owner, taskId }, UpdateExpression: 'SET #status = :working REMOVE #result' },
    ExpressionAttributeNames: { '#status': 'status', '#result': 'result' },
    ExpressionAttributeValues: { ':working': 'working' },
  });
  await DynamoDBDocumentClient.from(db()).send(reset);
  expect((await get(done.taskId)).error).toMatchObject({ code: -32602 });

  // A run that ends while its record is gone makes no piece of one.
  newer.release();
  await expect.poll(() => runOf(newer.taskId)?.status).toBe('SUCCEEDED');
  expect(await stored(newer.taskId)).toBeUndefined();

  await restore('Restored');
  expect(await putBack('Restored')).toMatch(
    /^\d+ items read: 8 put back, \d+ kept as they are now, 0 expired, 0 of MCP Events left out$/,
  );
  expect(await putBack('Restored')).toMatch(/: 0 put back, /);

  // Tasks that had ended are unchanged, with results in S3; tasks that ended since are not overwritten.
  const same = async (task: { taskId: string }) => {
    const { pollIntervalMs: _, ...shown } = (await get(task.taskId)).result;
    expect(task).toMatchObject(shown);
  };
  for (const task of [done, large, damaged, outcome]) await same(task);
  // Running tasks end as usual.
  runs.release();
  expect(await poll(url(), runs.taskId, ended)).toMatchObject({ status: 'completed' });
  // Waiting tasks can be answered.
  await answer(asks);
  expect(await poll(url(), asks, ended)).toMatchObject({ status: 'completed' });
  // A task that ended after the moment, and was lost, fails: its run is over.
  await sweepAfter(5 * MINUTE);
  for (const { taskId } of [late, cancelled]) {
    expect((await get(taskId)).result).toMatchObject({
      status: 'failed',
      error: { message: 'The run of the tool ended without a result' },
    });
  }
  // A task that was answered after it asks again. Its next round has already run: it fails, too.
  expect((await get(answered)).result).toMatchObject({ status: 'input_required' });
  await answer(answered);
  await sweepAfter(MINUTE);
  expect((await get(answered)).result).toMatchObject({ status: 'failed' });
  // A task that was created after the moment is lost.
  expect((await get(newer.taskId)).error).toMatchObject({ code: -32602 });
  await nothingIsStuck();
});

test('a deleted table that is restored under its name: runs continue in it', async () => {
  const done = await runTask(url(), 'echo', { n: 7 });
  const [runs, late] = [await held(), await held()];
  await sweepAfter(MINUTE);
  const restore = await snapshot();
  await db().send(new DeleteTableCommand({ TableName: table() }));
  late.release();
  await expect.poll(() => runOf(late.taskId)?.states.at(-1)).toBe('Finish');
  const { status, body } = await modernRequest(url(), 'tasks/get', { taskId: done.taskId });
  expect([status, body.error.code]).toEqual([200, -32603]);
  await restore(table());
  runs.release();
  for (const { taskId } of [runs, late]) {
    // The workflow pauses up to a minute between two tries of its last write.
    await expect.poll(async () => (await stored(taskId))?.status).toBe('completed');
  }
  expect((await get(done.taskId)).result).toMatchObject({ status: 'completed', result: done.result });

  // Nothing reads the table until the runbook is done.
  const deliveries = { service: 'streams', operation: 'Deliver' } as const;
  const silent = cloud().faults.add({ ...deliveries, do: { run: async () => {} } });
  const unseen = await runTask(url(), 'echo', { n: 8 });
  await sweepAfter(MINUTE);
  expect(await published(unseen.taskId)).toEqual([]);
  expect(silent.hits).toBe(0);
  silent.remove();
  await switchOn();
  const probed = cloud().faults.add({ ...deliveries, do: { run: async () => {} } });
  await sweepAfter(MINUTE);
  await probed.struck;
  const seen = await runTask(url(), 'echo', { n: 9 });
  expect(await published(seen.taskId)).toEqual(['working', 'completed']);
  await nothingIsStuck();
});

test('an item that has expired since is not put back', async () => {
  const done = await runTask(url(), 'echo', { n: 7 });
  const restore = await snapshot();
  await restore('Expired');
  const { owner, taskId } = (await stored(done.taskId)) as TaskRecord;
  const expire = new UpdateCommand({
    ...{ TableName: 'Expired', Key: { owner, taskId }, UpdateExpression: 'SET expiresAt = :then' },
    ExpressionAttributeValues: { ':then': Math.floor(Date.now() / 1_000) - 1 },
  });
  await DynamoDBDocumentClient.from(db()).send(expire);
  await lose(taskId);
  expect(await putBack('Expired')).toMatch(
    /: 0 put back, \d+ kept as they are now, 1 expired, 0 of MCP Events left out$/,
  );
  expect(await stored(taskId)).toBeUndefined();
});

function runOf(taskId: string) {
  return cloud()
    .stepFunctions.executions()
    .find(({ name }) => name.startsWith(taskId));
}
