import { setTimeout as sleep } from 'node:timers/promises';
import { SendTaskSuccessCommand, SFNClient } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import type { ExecutionSnapshot } from '../../local/testing.ts';
import { ended, legacySession, modernRequest, type OpenStream, openStream, poll, runTask } from '../support/clients.ts';
import { useAssembly, useCloud } from '../support/cloud.ts';

const assembly = useAssembly('test/support/apps/machine-app.ts');
const cloud = useCloud('assembly', { assembly, schedules: true });
const url = () => `${cloud().url}/mcp`;
const accept = { action: 'accept', content: { ok: true } };

/** The tool workflow's execution of a task's round, and the machine's. */
function runsOf(taskId: string, round = 1): [ExecutionSnapshot | undefined, ExecutionSnapshot | undefined] {
  const both = cloud()
    .stepFunctions.executions()
    .filter(({ name }) => name === `${taskId}-r${round}`);
  return [both.find(({ states }) => states[0] === 'Run'), both.find(({ states }) => states[0] !== 'Run')];
}

async function start(name: string, args: object = {}): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
  return body.result.taskId;
}

type Session = Awaited<ReturnType<typeof legacySession>>;
async function startLegacy({ request }: Session, name: string, args: object = {}, _meta: object = {}): Promise<string> {
  return (await request('tools/call', { name, arguments: args, task: {}, _meta })).body.result.task.taskId;
}

/** A task of 2025-11-25 and the answer to its `tasks/result`. */
async function runLegacy(name: string, args: object = {}) {
  const session = await legacySession(url());
  const taskId = await startLegacy(session, name, args);
  await poll(url(), taskId, ended);
  const task = (await session.request('tasks/get', { taskId })).body.result;
  return { taskId, task, result: (await session.request('tasks/result', { taskId })).body };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read messages of every shape.
async function* messages({ events }: OpenStream): AsyncGenerator<any> {
  for await (const { data } of events) if (data !== '') yield data;
}

describe('a run', () => {
  test("costs two charged states more than the machine's own, and no function", async () => {
    const mark = cloud().calls.mark();
    const { taskId, result } = await runTask(url(), 'echo', { a: 1 });
    expect(result.structuredContent).toEqual({ a: 1 });
    const [workflow, machine] = runsOf(taskId);
    expect(workflow).toMatchObject({ status: 'SUCCEEDED', states: ['Run', 'Finish'], transitions: 2 });
    expect(machine).toMatchObject({ status: 'SUCCEEDED', states: ['Answer'] });
    const calls = cloud().calls.since(mark);
    expect(calls.filter(({ service }) => service === 'lambda')).toEqual([]);
    const writes = calls.filter(({ operation }) => /Item$/.test(operation) && operation !== 'GetItem');
    expect(writes.map(({ operation }) => operation)).toEqual(['PutItem', 'UpdateItem']);
  });

  const digits = { id: 9007199254740991, third: 0.3333333333333333, micros: 1763634000123457, deep: [[1], {}] };

  test('numbers survive to the last digit, there and back, in both eras', async () => {
    expect((await runTask(url(), 'echo', digits)).result.structuredContent).toEqual(digits);
    expect((await runLegacy('echo', digits)).result.result.structuredContent).toEqual(digits);
  });

  test('the machine gets the event of the tool contract', async () => {
    const { taskId, result } = await runTask(url(), 'event', digits);
    expect(result.structuredContent.event).toMatchObject({
      name: 'event',
      arguments: digits,
      task: { taskId, round: 1, attempt: 0, deadline: expect.any(Number) },
      accepts: ['elicitation/create'],
      inputResponses: {},
      requestState: null,
    });
    // The caller is anonymous.
    expect(result.structuredContent.event).not.toHaveProperty('caller');
  });
});

describe.concurrent('the example', () => {
  const regions = ['eu-west-1', 'us-east-1', 'ap-south-1', 'eu-north-1', 'sa-east-1'];

  test('compares regions at the same time: Map, Parallel and Wait', async () => {
    const { result, taskId } = await runTask(url(), 'inspect_regions', { regions });
    const { structuredContent, content } = result;
    expect(structuredContent.regions.map(({ region }: { region: string }) => region)).toEqual(regions);
    const fastest = structuredContent.regions
      .filter(({ freeSlots }: { freeSlots: number }) => freeSlots > 0)
      .sort((a: { latencyMs: number }, b: { latencyMs: number }) => a.latencyMs - b.latencyMs)[0];
    expect(structuredContent.best).toBe(fastest.region);
    expect(content[0].text).toContain(`Best: ${fastest.region}`);
    const states = runsOf(taskId)[1]?.states ?? [];
    expect(states).toContain('Sum up');
    // One after the other, the second region would begin when the first one has waited.
    expect(states.lastIndexOf('Check capacity')).toBeLessThan(states.indexOf('Measure latency'));
  });
});

describe('a machine that waits for a token', () => {
  test('goes on with what another system answers, and shows the state in which it waits', async () => {
    const taskId = await start('callback');
    const [jobs = []] = [...cloud().queues].flatMap(([name, messages]) => (name.includes('Jobs') ? [messages] : []));
    await expect.poll(() => jobs.length).toBe(1);
    const { token: taskToken } = JSON.parse(jobs[0]?.body ?? '') as { token: string };
    const { endpoint, region } = cloud();
    const credentials = { accessKeyId: 'other-system', secretAccessKey: 'local' };
    const states = new SFNClient({ endpoint, region, credentials });
    await poll(url(), taskId, ({ statusMessage }) => statusMessage === 'Start Task And Wait For Callback');
    await states.send(new SendTaskSuccessCommand({ taskToken, output: '{"approved":true}' }));
    const { result } = await poll(url(), taskId, ended);
    expect(result.structuredContent).toEqual({ approved: true });
  });
});

describe.concurrent('progress', () => {
  // A busy machine may pass a state between two polls.
  const steps = ['Gather', 'Think it over', 'Write'];

  test('the name of the current state is the status message, and a change of the task (E-27)', async () => {
    const mark = cloud().calls.mark();
    const seen = new Map<string, string>();
    const taskId = await start('three_steps');
    const done = await poll(url(), taskId, (task) => {
      if (task.status === 'working' && task.statusMessage) seen.set(task.statusMessage, task.lastUpdatedAt);
      return task.status !== 'working';
    });
    expect(seen.size).toBeGreaterThan(0);
    expect([...seen.keys()]).toEqual(steps.filter((step) => seen.has(step)));
    expect([...seen.values()]).toEqual([...new Set(seen.values())].sort());
    expect(done).toMatchObject({ status: 'completed' });
    expect(done.statusMessage).toBeUndefined();
    // A container reads every other second, for any number of polls.
    const ofTask = cloud()
      .calls.since(mark)
      .filter(({ input }) => JSON.stringify(input).includes(taskId));
    const reads = ofTask.filter(({ operation }) => operation === 'GetExecutionHistory').map(({ at }) => at);
    const [first = 0, last = 0] = [reads[0], reads.at(-1)];
    expect(reads.length).toBeLessThanOrEqual(2 + (last - first) / 2_000);
    expect(runsOf(taskId).map((run) => run?.transitions)).toEqual([2, 3]);
  });

  test('counts the items of a Map that are done (E-27)', async () => {
    const seen = new Set<string>();
    const done = await poll(url(), await start('one_by_one'), (task) => {
      if (task.statusMessage) seen.add(task.statusMessage);
      return task.status !== 'working';
    });
    expect(done).toMatchObject({ status: 'completed' });
    // A busy machine may pass a count between two reads.
    const counts = [0, 1, 2].map((count) => `Report on one (${count} of 3)`);
    expect(seen.size).toBeGreaterThan(0);
    expect([...seen]).toEqual(counts.filter((count) => seen.has(count)));
  });

  test('2025-11-25 gets it on the stream it waits on (C-33)', async () => {
    const session = await legacySession(url());
    const taskId = await startLegacy(session, 'three_steps', {}, { progressToken: 'p' });
    const request = { jsonrpc: '2.0', id: 'r', method: 'tasks/result', params: { taskId } };
    const stream = await openStream(url(), request, session.headers);
    const reported: unknown[] = [];
    let answer: unknown;
    for await (const { method, params, result } of messages(stream)) {
      if (method === 'notifications/progress') reported.push(params.message);
      if (result !== undefined) answer = result;
    }
    expect(reported.length).toBeGreaterThan(0);
    expect(reported).toEqual(steps.filter((step) => reported.includes(step)));
    expect(answer).toBeDefined();
    const got = await session.request('tasks/get', { taskId });
    expect(got.body.result.statusMessage).toBeUndefined();
  });
});

describe('cancelling', () => {
  const stopped = async (taskId: string) => {
    await expect.poll(() => runsOf(taskId).map((run) => run?.status)).toEqual(['ABORTED', 'ABORTED']);
    const mark = cloud().calls.mark();
    await sleep(300);
    expect(
      cloud()
        .calls.since(mark)
        .filter(({ operation }) => operation === 'UpdateItem'),
    ).toEqual([]);
  };
  const running = async (taskId: string) => {
    await expect.poll(() => runsOf(taskId)[1]?.status).toBe('RUNNING');
  };

  test('stops the machine, and the task stays cancelled (E-21)', async () => {
    const taskId = await start('endless');
    await running(taskId);
    await modernRequest(url(), 'tasks/cancel', { taskId });
    await stopped(taskId);
    const { body } = await modernRequest(url(), 'tasks/get', { taskId });
    expect(body.result).toMatchObject({ status: 'cancelled', statusMessage: 'Cancelled by the client' });
  });
});

describe('failure', () => {
  test.each([
    ['fails', 'OutOfStock', 'The tool failed'],
    ['fails_oddly', 'States.TaskFailed', 'The tool failed'],
    ['times_out', 'States.Timeout', 'The tool ran out of its time'],
    ['brief', 'States.Timeout', 'The tool ran out of its time'],
    ['bad_question', 'InputRequestInvalid', 'The tool asked for input in a form that is not valid'],
  ])('%s: the reason is %s and nothing else, in both eras (A-15, E-13)', async (name, reason, text) => {
    const error = { code: -32603, message: text, data: { reason } };
    const modern = await runTask(url(), name);
    expect(modern).toMatchObject({ status: 'failed', statusMessage: text, error });
    const { task, result } = await runLegacy(name);
    expect(task).toMatchObject({ status: 'failed', statusMessage: text });
    expect(result.error).toEqual(error);
    expect(JSON.stringify([modern, task, result])).not.toMatch(/secret|Hidden|arn:/);
  });

  test('a tool out of time stops its machine', async () => {
    const { taskId } = await runTask(url(), 'brief');
    await expect.poll(() => runsOf(taskId)[1]?.status).toBe('ABORTED');
    expect(runsOf(taskId)[0]).toMatchObject({ status: 'SUCCEEDED', states: ['Run', 'Finish'] });
  });

  test('arguments and output are too large together', async () => {
    const error = { message: expect.stringContaining('too large'), data: { reason: 'States.DataLimitExceeded' } };
    const task = await runTask(url(), 'echo', { text: 'x'.repeat(140_000) });
    expect(task).toMatchObject({ status: 'failed', error });
    expect((await runTask(url(), 'echo', { text: 'x'.repeat(120_000) })).status).toBe('completed');
  });
});

describe('input', () => {
  const answered = { answer: accept, requestState: { n: 9007199254740991 }, round: 2 };

  test('questions end the round, the answer starts the machine again', async () => {
    const taskId = await start('asks');
    const task = await poll(url(), taskId, ({ status }) => status === 'input_required');
    expect(Object.keys(task.inputRequests)).toEqual(['r1.confirm']);
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses: { 'r1.confirm': accept } });
    expect((await poll(url(), taskId, ended)).result.structuredContent).toEqual(answered);
    expect([1, 2].map((round) => runsOf(taskId, round)[1]?.states)).toEqual([
      ['Answered?', 'Ask'],
      ['Answered?', 'Go on'],
    ]);
  });
});

test("the endpoint reads and each tool's role acts: no other role touches an execution", () => {
  const done = cloud()
    .calls.since()
    .filter(({ service }) => service === 'states');
  const by = (operation: string) =>
    new Set(done.filter((call) => call.operation === operation).map(({ caller }) => caller));
  expect([...by('GetExecutionHistory')]).toEqual([expect.stringContaining('Endpoint')]);
  expect([...by('DescribeExecution')].every((caller) => caller.startsWith('ServerMachine'))).toBe(true);
});
