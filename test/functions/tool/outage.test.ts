import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { TaskContext, ToolEvent } from '../../../functions/tasks/tool-contract.ts';

// Other files of this process have taken the place of some modules.
vi.resetModules();
const { defineTool } = await import('../../../functions/tool/index.ts');
const db = mockClient(DynamoDBDocumentClient);
vi.stubEnv('AWS_REGION', 'eu-west-1');
afterAll(() => {
  db.restore();
  vi.unstubAllEnvs();
});
/** What the AWS SDK throws once it has given up. */
const throttled = Object.assign(new Error('slow down'), {
  name: 'ThrottlingException',
  $metadata: { httpStatusCode: 400, attempts: 4 },
});
const steps: string[] = [];
const tool = defineTool({ description: 'd', inputSchema: { type: 'object' } }, async (_args, task) => {
  await task.step('one', () => void steps.push('one'), { atMostOnce: true });
  await task.step('two', () => void steps.push('two'));
  return { ok: true };
});
const reports = defineTool({ description: 'd', inputSchema: { type: 'object' } }, async (_args, task) => {
  for (const done of [1, 2, 3]) await task.progress('works', { progress: done, total: 3 });
  return { ok: true };
});
const signals: AbortSignal[] = [];
const pays = defineTool({ description: 'd', inputSchema: { type: 'object' } }, async (_args, task) => {
  signals.push(task.signal);
  await task.step('pay', () => void steps.push('pay'), { atMostOnce: true });
  return { ok: true };
});
const event = (attempt = 0): ToolEvent => ({
  ...{ name: 't', arguments: {}, accepts: [], inputResponses: {}, requestState: null },
  task: {
    ...{ taskId: 't', owner: 'o', table: 'outage', results: 'B', round: 1, envelope: 1, attempt },
    deadline: Date.now() + 60_000,
  },
});
beforeEach(() => {
  db.reset();
  steps.length = 0;
  db.on(GetCommand).resolves({ Item: { status: 'working', round: 1 } });
});

test('while DynamoDB throttles, a step waits to be stored, and is done once', async () => {
  db.on(UpdateCommand).rejectsOnce(throttled).resolvesOnce({}).rejectsOnce(throttled).resolves({});
  expect(await tool(event())).toEqual({ mcpTask: 1, text: '{"ok":true}' });
  expect(steps).toEqual(['one', 'two']);
});

test('while DynamoDB throttles, a later run waits to read what was done', async () => {
  db.on(UpdateCommand).resolves({});
  db.on(QueryCommand).rejectsOnce(throttled).resolves({ Items: [] });
  expect(await tool(event(1))).toMatchObject({ text: '{"ok":true}' });
});

test('while DynamoDB throttles, a page of a long journal is read again, and no page before it', async () => {
  db.on(UpdateCommand).resolves({});
  const after = { owner: 'o', taskId: 't' };
  const page = { Items: [], LastEvaluatedKey: after };
  db.on(QueryCommand, { ExclusiveStartKey: undefined }).resolves(page);
  db.on(QueryCommand, { ExclusiveStartKey: after })
    .rejectsOnce(throttled)
    .rejectsOnce(throttled)
    .resolves({ Items: [] });
  expect(await tool(event(1))).toMatchObject({ text: '{"ok":true}' });
  const starts = db.commandCalls(QueryCommand).map(({ args: [{ input }] }) => input.ExclusiveStartKey);
  expect(starts).toEqual([undefined, after, after, after]);
});

test('a tool that only reports waits for no journal: DynamoDB may throttle all the time', async () => {
  db.on(UpdateCommand).resolves({});
  let queries = 0;
  db.on(QueryCommand).callsFake(async () => {
    queries++;
    throw throttled;
  });
  expect(await reports({ ...event(), task: { ...event().task, run: 'r' } as TaskContext })).toMatchObject({
    text: '{"ok":true}',
  });
  // A minute of tries would be more.
  expect(queries).toBeLessThan(10);
});

test('a step with atMostOnce does not begin once its task was cancelled while it waited', async () => {
  let status = 'working';
  db.on(GetCommand).callsFake(async () => ({ Item: { status, round: 1 } }));
  db.on(UpdateCommand).callsFake(async () => {
    status = 'cancelled';
    if (signals[0]?.aborted !== true) throw throttled;
    return {};
  });
  expect(await pays(event())).toMatchObject({ isError: true });
  expect(steps).toEqual([]);
});
