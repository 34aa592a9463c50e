import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/task-events/index.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { streamRecord } from './images.ts';

// The function reads the first two as it loads.
vi.hoisted(() =>
  Object.assign(process.env, {
    ...{
      METRICS_BY_TOOL: 'true',
      EVENT_BUS: 'bus',
      SERVER_NAME: 'server',
      TASKS_TABLE: 'table',
      RESULTS_BUCKET: 'bucket',
    },
    ...{ AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' },
  }),
);
// Files share a process: without their ends, these mocks answer the requests of other files.
const mocks: { restore(): void }[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const mock of mocks.splice(0)) mock.restore();
});

const key = { owner: 'owner#ann', taskId: 't' };
const outcome = { ...key, round: 1, text: '1', isError: false, asks: false };

test('a change of the table goes to the bus, and an audit line and a metric to the log', async () => {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  const bus = mockClient(EventBridgeClient)
    .on(PutEventsCommand)
    .resolves({ Entries: [{ EventId: '1' }] });
  mocks.push(bus);
  const fresh = create(key, { tool: 'echo', ttl: 1_000, timeout: 600_000, accepts: [], legacy: false }, 1);
  const change = { Records: [streamRecord(undefined, fresh, 1, Date.now())] };
  expect(await handler(change)).toEqual({ batchItemFailures: [] });
  expect(await handler(change)).toEqual({ batchItemFailures: [] });
  expect(bus.commandCalls(PutEventsCommand).map(({ args: [{ input }] }) => input)).toMatchObject(
    Array(2).fill({ Entries: [{ EventBusName: 'bus', DetailType: 'Task Status Change' }] }),
  );
  expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toMatchObject([
    { event: 'audit', action: 'created' },
    { Server: 'server', Created: 1 },
  ]);
});

test('an outcome that is not written fails with the name of its error, no text of AWS (A-15)', async () => {
  const error = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const failure = Object.assign(new Error('planted-secret'), { name: 'ThrottlingException' });
  const table = mockClient(DynamoDBDocumentClient).on(GetCommand).rejectsOnce(failure).resolves({});
  mocks.push(table);
  const failing = handler({ outcome });
  await expect(failing).rejects.toMatchObject({ name: 'ThrottlingException' });
  await expect(failing).rejects.toThrow('The outcome was not written: see outcome_failed in the log');
  expect(error.mock.calls).toEqual([[expect.stringMatching(/"event":"outcome_failed".*"ThrottlingException"/)]]);
  expect(JSON.stringify(error.mock.calls)).not.toContain('planted-secret');
  expect(await handler({ outcome })).toBeNull();
  expect(table.commandCalls(GetCommand).map(({ args: [{ input }] }) => input)).toMatchObject(
    Array(2).fill({ TableName: 'table', Key: key }),
  );
});
