import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { ToolEvent } from '../../../functions/tasks/tool-contract.ts';

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
