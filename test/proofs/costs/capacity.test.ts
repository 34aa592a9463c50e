import { expect, test } from 'vitest';
import type { ModernCall, ServerContext } from '../../../functions/mcp/context.ts';
import { EventStream } from '../../../functions/mcp/http/sse.ts';
import { subscriptionsListen } from '../../../functions/mcp/methods/subscriptions-listen.ts';
import { tasksGet } from '../../../functions/mcp/methods/tasks-get.ts';
import { tasksList } from '../../../functions/mcp/methods/tasks-list.ts';
import { shortHash } from '../../../functions/mcp/stream/questions.ts';
import { SESSION_STREAM_MARK, type SessionCall } from '../../../functions/mcp/stream/session-questions.ts';
import { sessionStream } from '../../../functions/mcp/stream/session-stream.ts';
import { legacyWire } from '../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../functions/mcp/wire/2026-07-28.ts';
import { newTaskKey, type Principal, sessionPartition } from '../../../functions/tasks/ids.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { taskStore } from '../../../functions/tasks/table/store.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import type { Call as AwsCall } from '../../../local/testing.ts';
import { fakeServer, manifest } from '../../functions/mcp/support/fake-server.ts';
import { useCloud } from '../../support/cloud.ts';
import { dynamoDbOf } from '../../support/dynamodb.ts';
import { type Read, repeated, type Trace, throttled } from './capacity.ts';

/**
 * The worst requests of one caller, and plain reads of others, on one table. The endpoint's own code reads the table of the
 * embedded cloud, which reports the cost of each read. Time passes only while the code sleeps, so a stream of 50 s takes none.
 */
const cloud = useCloud('brief');
const MOST_STREAMS = 200;
const [A_SECOND, FOR] = [12, 60];
const START = Date.now();
const task = { tool: 'optional', ttl: 3_600_000, timeout: 3_600_000, accepts: ['elicitation/create'], legacy: true };
const form = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
const owner = (key: string): Principal => ({ kind: 'verified', key });
const callOf = (principal: Principal, params: object, legacy = false) =>
  ({
    ...{ wire: legacy ? legacyWire : modernWire(manifest.serverInfo), id: 1, method: 'm', tasks: true },
    ...{ principal, params, accepts: ['elicitation/create'], session: 's' },
  }) as unknown as ModernCall;

function store() {
  return taskStore(dynamoDbOf(cloud(), 'administrator'), cloud().tables[0] ?? '');
}

async function made(
  count: number,
  principal: Principal,
  more: (record: TaskRecord) => Partial<TaskRecord> = () => ({}),
) {
  const records = Array.from({ length: count }, () => create(newTaskKey(principal, START), task, START));
  await Promise.all(records.map(async (record) => store().create({ ...record, ...more(record) })));
  return records;
}

/** Working tasks with a report of progress. */
async function working(count: number, principal: Principal): Promise<TaskRecord[]> {
  const records = await made(count, principal);
  const report = { message: 'x'.repeat(limits.statusMessage) };
  await Promise.all(records.map((one) => store().report({ ...one, deadline: START + 3_600_000 }, report, START)));
  return records;
}

/** The reads of a request, with their times. */
async function traced(request: (server: ServerContext) => Promise<unknown>): Promise<Trace> {
  let now = START;
  let mark = cloud().calls.mark();
  const reads: Read[] = [];
  const charge = () => {
    for (const call of cloud().calls.since(mark)) {
      const units = unitsOf(call);
      if (units !== undefined) reads.push({ at: now - START, units });
    }
    mark = cloud().calls.mark();
  };
  const sleep = async (ms: number) => {
    charge();
    now += ms;
  };
  const { server } = fakeServer({
    ...{ store: store(), now: () => now, sleep },
    manifest: { ...manifest, holdCap: limits.holdCap, maxStreams: MOST_STREAMS },
  });
  const answer = await request(server);
  if (answer instanceof EventStream) for await (const _frame of answer.frames);
  charge();
  return { reads, lasts: now - START };
}

/** The units of a read of DynamoDB, by partition. */
function unitsOf({ operation, input, consumed }: AwsCall): Map<string, number> | undefined {
  if (!['GetItem', 'BatchGetItem', 'Query'].includes(operation)) return undefined;
  const partitions = [...JSON.stringify(input).matchAll(/"(?:owner|:owner)":\{"S":"([^"]*)"\}/g)].map(
    ([, key]) => key ?? '',
  );
  const share = (consumed?.table ?? Number.NaN) / partitions.length;
  const units = new Map<string, number>();
  for (const partition of partitions) units.set(partition, (units.get(partition) ?? 0) + share);
  return units;
}

/** Counts throttled plain reads while these requests come, of another owner and of the same one. */
async function plainThrottled(worst: Trace, of?: string): Promise<{ others: number; own: number; worst: number }> {
  const plain = async (key: string) => {
    const [record] = await working(1, owner(key));
    const read = await traced((server) => tasksGet(callOf(owner(key), { taskId: record?.taskId }), server));
    return repeated(read, 10, FOR);
  };
  const refusedBy = of === undefined ? undefined : { most: MOST_STREAMS, owner: of };
  const refused = throttled([
    ...repeated(worst, A_SECOND, FOR, refusedBy).map((read) => ({ ...read, name: 'worst' })),
    ...(await plain('bob')).map((read) => ({ ...read, name: 'others' })),
    ...(of === undefined ? [] : await plain(of)).map((read) => ({ ...read, name: 'own' })),
  ]);
  const count = (name: string) => refused.get(name) ?? 0;
  return { others: count('others'), own: count('own'), worst: count('worst') };
}

const NONE = { others: 0, own: 0, worst: 0 };
const listenTo = (principal: Principal, records: readonly TaskRecord[]) =>
  traced((server) =>
    subscriptionsListen(callOf(principal, { notifications: { taskIds: records.map(({ taskId }) => taskId) } }), server),
  );

test('twelve listens a second on 100 tasks that work throttle no plain read: of one owner', async () => {
  const trace = await listenTo(owner('ann'), await working(limits.listenTasks, owner('ann')));
  expect(trace.lasts).toBe(limits.holdCap);
  expect(await plainThrottled(trace, 'ann')).toEqual(NONE);
});

test('twelve listens a second on 100 tasks that work throttle no plain read: without a session', async () => {
  const anyone: Principal = { kind: 'anonymous' };
  const trace = await listenTo(anyone, await working(limits.listenTasks, anyone));
  expect(trace.lasts).toBe(limits.holdCap);
  expect(await plainThrottled(trace)).toEqual(NONE);
});

test('twelve lists a second of 50 tasks that work throttle no plain read', async () => {
  await working(limits.listPage, owner('lists'));
  const trace = await traced((server) => tasksList(callOf(owner('lists'), {}, true), server));
  expect(await plainThrottled(trace, 'lists')).toEqual(NONE);
});

test('twelve GETs a second on 50 questions, with full notes, throttle no plain read', async () => {
  const asked = JSON.stringify({ inputRequests: { sure: form } });
  const records = await made(limits.sessionStream.tasks, owner('asks'), () => ({ status: 'input_required', asked }));
  const call = callOf(owner('asks'), {}, true) as SessionCall;
  const marks = records.map(
    ({ taskId }) => [`${SESSION_STREAM_MARK}${taskId} ${shortHash('r1.sure#0', 8)}`, START - 60_000] as const,
  );
  const many = Array.from({ length: limits.sessionStream.notes }, (_, n) => [`${'x'.repeat(50)}${n}`, START] as const);
  const notes = {
    // Tasks that tasks/result may still ask for: the stream reads those first whose time has come.
    waiting: Object.fromEntries(many.map(([name]) => [name, START + limits.holdCap] as const)),
    asked: Object.fromEntries([...marks, ...many].slice(0, many.length)),
  };
  await store().updateSession(sessionPartition('s'), () => notes, START);
  const trace = await traced(async (server) => {
    const start = { seen: [], activeAt: START, resumed: false };
    for await (const _frame of sessionStream(start, call, server));
  });
  expect(trace.lasts).toBe(limits.holdCap);
  expect(await plainThrottled(trace, 'asks')).toEqual(NONE);
});

test('with results back in the records, the same requests throttle the reads of others', async () => {
  const anyone: Principal = { kind: 'anonymous' };
  const result = JSON.stringify('x'.repeat(200_000));
  const records = await made(limits.listenTasks, anyone, () => ({ status: 'completed', result, isError: false }));
  const { others } = await plainThrottled(await listenTo(anyone, records));
  expect(others).toBeGreaterThan(0);
});
