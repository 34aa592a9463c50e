import { inspect } from 'node:util';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createHandler, handle, type ReconcilerEvent } from '../../../functions/reconciler/index.ts';
import { roundInput } from '../../../functions/tasks/round-input.ts';
import { executionArn } from '../../support/engine/memory.ts';
import { fakeContext, MINUTE, record, T0 } from './fake-context.ts';

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

const tick = { 'detail-type': 'Scheduled Event', source: 'aws.events', detail: {} } as unknown as ReconcilerEvent;
const ended = {
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  detail: {
    executionArn: executionArn('t', 1),
    status: 'ABORTED',
    input: roundInput(record(), '{}'),
    error: null,
  },
} as unknown as ReconcilerEvent;
const metrics = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
const declared = (line: Record<string, unknown> | undefined) =>
  (line?._aws as { CloudWatchMetrics: unknown[] } | undefined)?.CloudWatchMetrics;

test('an idle sweep is one heartbeat, as CloudWatch reads metrics from a log (row 21)', async () => {
  const { context } = fakeContext();
  await handle(tick, 60_000, context, 'Server-1');
  expect(lines).toEqual([expect.stringMatching(/^\{[^\n]*\}\n$/)]);
  expect(metrics()).toEqual([
    {
      _aws: {
        Timestamp: T0 + MINUTE,
        CloudWatchMetrics: [
          { Namespace: 'McpTaskServer', Dimensions: [['Server']], Metrics: [{ Name: 'Sweep', Unit: 'Count' }] },
        ],
      },
      Server: 'Server-1',
      Sweep: 1,
    },
  ]);
  expect(console.error).not.toHaveBeenCalled();
});

test('each sweep writes a probe into the stream first; without one it still sweeps', async () => {
  const probe = vi.fn(async () => {});
  await handle(tick, 60_000, fakeContext([], { probe }).context, 'Server-1');
  expect(probe).toHaveBeenCalledTimes(1);
  probe.mockRejectedValueOnce(Object.assign(new Error('table/secret'), { name: 'Throttled' }));
  await handle(tick, 60_000, fakeContext([], { probe }).context, 'Server-1');
  expect(metrics()).toMatchObject([{ Sweep: 1 }, { Sweep: 1 }]);
  expect(vi.mocked(console.error).mock.calls).toEqual([[expect.stringMatching(/"event":"probe_failed".*"Throttled"/)]]);
});

test('what was put right is counted by what was wrong, and no metric names a task or its owner', async () => {
  const { context, clock } = fakeContext([record({ deadlineAt: T0 }), record({ taskId: 'u' })]);
  clock.now = T0 + MINUTE;
  await handle(tick, 60_000, context, 'Server-1');
  expect(metrics()).toMatchObject([
    { Sweep: 1, Due: 2, Overdue: 1 },
    { Repaired: 1, Kind: 'overdue' },
    { Repaired: 1, Kind: 'never_started' },
  ]);
  expect(declared(metrics()[1])).toEqual([
    { Namespace: 'McpTaskServer', Dimensions: [['Server', 'Kind']], Metrics: [{ Name: 'Repaired', Unit: 'Count' }] },
  ]);
  expect(lines.join()).not.toMatch(/"o"|"t"|"u"/);
});

test('a sweep that misses a shard is not a heartbeat; its errors are logged by name only', async () => {
  const page = async (shard: number) => {
    if (shard === 7) throw Object.assign(new Error('table/secret'), { name: 'AccessDeniedException' });
    return { keys: [] };
  };
  const { context } = fakeContext([], { index: { page } });
  await handle(tick, 60_000, context, 'Server-1');
  expect(metrics()).toEqual([expect.not.objectContaining({ Sweep: 1 })]);
  expect(metrics()[0]).toMatchObject({ Errors: 1 });
  expect(vi.mocked(console.error).mock.calls).toEqual([
    ['{"event":"sweep_errors","errors":{"AccessDeniedException":1}}'],
  ]);
});

test('a tick that was held up for long is left to the next one', async () => {
  const { context, did } = fakeContext([record()]);
  const time = new Date(context.now() - 100_000).toISOString();
  await handle({ ...tick, time } as ReconcilerEvent, 60_000, context, 'Server-1');
  expect([did, lines]).toEqual([[], []]);
  await handle(
    { ...tick, time: new Date(context.now() - 60_000).toISOString() } as ReconcilerEvent,
    60_000,
    context,
    'S',
  );
  expect(metrics()[0]).toMatchObject({ Sweep: 1 });
});

test('a sweep leaves a sixth of its time', async () => {
  const fake = fakeContext(Array.from({ length: 100 }, (_, i) => record({ taskId: `t${i}`, due: String(i % 16) })));
  await handle(tick, 2_400, fake.context, 'Server-1');
  expect(fake.clock.now).toBeLessThanOrEqual(T0 + MINUTE + 2_000);
  expect(metrics()[0]).toMatchObject({ Sweep: 1, Due: 12, Left: 88 });
});

test('the end of a run is dealt with at once; without effect it says nothing (row 13)', async () => {
  const { context, records } = fakeContext([record()]);
  await handle(ended, 60_000, context, 'Server-1');
  expect(records.get('t')?.status).toBe('failed');
  expect(metrics()).toMatchObject([{ Repaired: 1, Kind: 'run_ended', Server: 'Server-1' }]);
  await handle(ended, 60_000, context, 'Server-1');
  expect(lines).toHaveLength(1);
});

test("an AWS error text with a run's input is in neither the log nor the dead letter (A-15)", async () => {
  const planted = new Error('Invalid Input: \'{"iban":"planted"}\'');
  const db = mockClient(DynamoDBDocumentClient);
  db.on(GetCommand).rejects(Object.assign(planted, { name: 'InvalidExecutionInput' }));
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  for (const name of ['RESULTS_BUCKET', 'TASKS_TABLE', 'SERVER_NAME']) vi.stubEnv(name, 'named');
  vi.stubEnv('CHECKS_PER_SECOND', '6');
  vi.stubEnv('MACHINE_ARN_PREFIX', executionArn('t', 1).replace(/:execution:.*/, ':stateMachine:'));
  const settled = createHandler([])(ended, { getRemainingTimeInMillis: () => 60_000 });
  const error = await settled.then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  expect(db.calls()).toHaveLength(1);
  db.restore();
  expect(error).toMatchObject({ name: 'Error', message: expect.stringContaining('could not be settled') });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('planted');
  const logged = JSON.stringify(vi.mocked(console.error).mock.calls);
  expect(JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0])).toMatchObject({
    ...{ event: 'unexpected_error', where: 'reconciler', error: 'InvalidExecutionInput' },
  });
  expect(logged).not.toContain('planted');
  vi.unstubAllEnvs();
});
