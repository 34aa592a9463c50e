import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
  specTypeSchemas,
} from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  type SerializedTaskReference,
} from '@modelcontextprotocol/ext-tasks/client';
import type { TaskId } from '@modelcontextprotocol/ext-tasks/core';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  type Progress,
} from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { useCloud } from '../../support/cloud.ts';

/** Official clients that speak 2025-11-25, with holds of one second: they must resume longer waits. */
const cloud = useCloud('brief');
const url = () => new URL(`${cloud().url}/mcp`);
const RELATED = 'io.modelcontextprotocol/related-task';
const YES = { action: 'accept' as const, content: { ok: true } };

/** A client that fills in forms, with the questions that it got and the streams that it resumed. */
async function v1Client() {
  const asked: unknown[] = [];
  const resumed: string[] = [];
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params);
    return YES;
  });
  const transport = new StreamableHTTPClientTransport(url(), {
    fetch(target, init) {
      const eventId = new Headers(init?.headers).get('last-event-id');
      if (eventId !== null) resumed.push(eventId);
      return fetch(target, init);
    },
  });
  // The SDK's own transport types do not pass exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const start = async (name: string, args: Record<string, unknown>, onprogress?: (progress: Progress) => void) => {
    const request = { method: 'tools/call', params: { name, arguments: args } } as const;
    const options = { task: {}, ...(onprogress && { onprogress }) };
    return (await client.request(request, CreateTaskResultSchema, options)).task.taskId;
  };
  const result = (taskId: string) => client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  // Event ids of the session's own stream name no task, and do not count.
  const resumes = () => resumed.filter((eventId) => /^[a-z]\d~\w{36}~/i.test(eventId)).length;
  return { client, tasks: client.experimental.tasks, start, result, asked, resumes };
}

// A window of one second is too short for a first run on a busy machine.
beforeAll(async () => {
  const { client } = await v1Client();
  await client.callTool({ name: 'ask_optional' }).catch(() => undefined);
  await client.close();
});

describe.concurrent('the official v1 client', () => {
  test('runs a tool that asks: the question, its answer, the result (C-17, C-20, C-21)', async () => {
    const { client, tasks, asked } = await v1Client();
    const messages: { type: string }[] = [];
    for await (const message of tasks.callToolStream({ name: 'ask' }, CallToolResultSchema, { task: {} })) {
      messages.push(message);
    }
    const { taskId } = (messages[0] as unknown as { task: { taskId: string } }).task;
    expect(messages.at(0)?.type).toBe('taskCreated');
    expect(messages).toContainEqual({
      type: 'taskStatus',
      task: expect.objectContaining({ status: 'input_required' }),
    });
    expect(messages.at(-1)).toMatchObject({
      type: 'result',
      result: { structuredContent: { answer: YES, round: 2 }, _meta: { [RELATED]: { taskId } } },
    });
    // A stream that ends before the answer has come is resumed, and asks again.
    const question = expect.objectContaining({ message: 'Really?', _meta: { [RELATED]: { taskId } } });
    expect(asked).toEqual(asked.map(() => question));
    expect(asked).not.toEqual([]);
    await client.close();
  });

  test('waits for a task over several streams, with its progress (C-18, C-19, C-33)', async () => {
    const { client, start, result, resumes } = await v1Client();
    const heard: Progress[] = [];
    const taskId = await start('steps', { steps: 3 }, (progress) => heard.push(progress));
    expect(await result(taskId)).toMatchObject({ content: [{ text: 'done' }], _meta: { [RELATED]: { taskId } } });
    expect(resumes()).toBeGreaterThan(0);
    expect(heard.length).toBeGreaterThan(0);
    for (const { progress, total, message } of heard) expect([total, message]).toEqual([3, `step ${progress}`]);
    await client.close();
  });

  test('accepts the answer of a tool that still runs as valid by its outputSchema (A-19, F-14)', async () => {
    const { client } = await v1Client();
    const { tools: listed } = await client.listTools();
    expect(listed.find(({ name }) => name === 'slow_promise')?.outputSchema).toMatchObject({ type: 'object' });
    const running = await client.callTool({ name: 'slow_promise' });
    expect(running).not.toHaveProperty('isError');
    const { taskId, next } = running.structuredContent as { taskId: string; next: string };
    expect(next).toMatch(/It has not failed: do not call it again\. Call get_task_result with/);
    const done = await client.callTool({ name: 'get_task_result', arguments: { taskId } });
    expect(done.structuredContent).toMatchObject({ status: 'completed', result: { n: 1 } });
    await client.close();
  });

  test('gets an error on a stream once, and does not keep coming back for it (C-31)', async () => {
    const { client, tasks, start, result, resumes } = await v1Client();
    const taskId = await start('sleep', { ms: 20_000 });
    const waiting = expect(result(taskId)).rejects.toThrow('Task was cancelled');
    await sleep(500);
    await tasks.cancelTask(taskId);
    await waiting;
    const before = resumes();
    // It takes an error for a missing answer, and resumes after `retry`: one read is allowed, but no more.
    await sleep(2_500);
    expect(resumes() - before).toBeLessThanOrEqual(1);
    await client.close();
  });
});

async function taskSession() {
  const asked = new Set<string>();
  const options = { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'legacy' } } as const;
  const client = new ModernClient({ name: 'test', version: '1' }, options);
  await client.connect(new ModernTransport(url()));
  const session = createTaskSessionFromClient(client, {
    endpointId: 'test',
    async onInputRequest(request, { taskId }) {
      const { message } = request.params as { message?: string };
      asked.add(JSON.stringify([request.kind, message, taskId]));
      return YES as never;
    },
  });
  const waitFor = async (taskId: TaskId, wanted: string) => {
    while ((await session.task(taskId).snapshot()).status !== wanted) await sleep(50);
  };
  return {
    ...{ session, waitFor },
    /** Each once: a stream that ends asks again what was not answered in its time. */
    questions: () => [...asked].map((question): unknown => JSON.parse(question)),
    // The package polls until a task is over. Questions come to the client that waits for the result.
    result: (taskId: string) =>
      client.request({ method: 'tasks/result', params: { taskId } }, specTypeSchemas.CallToolResult),
    async close() {
      await session.close();
      await client.close();
    },
  };
}

/** A task as a client would write it down before it ends. */
async function startTask({ session }: Awaited<ReturnType<typeof taskSession>>, name: string, args = {}) {
  const execution = await session.callTool(name, args, { task: { preference: 'require' } });
  if (execution.kind !== 'task') throw new Error('No task');
  return { execution, reference: JSON.stringify(execution.serializeReference()), taskId: execution.handle.taskId };
}

describe.concurrent('ext-tasks on the official client 2.x in its legacy mode', () => {
  test('runs a task, lists it, gets its result or its error (C-07, C-14, C-16, C-23)', async () => {
    const here = await taskSession();
    const { execution, taskId } = await startTask(here, 'echo', { a: 1 });
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({
      structuredContent: { a: 1 },
      _meta: { [RELATED]: { taskId } },
    });
    expect((await here.session.listTasks()).tasks).toMatchObject([
      { taskId, status: 'completed', retentionMs: 3_600_000 },
    ]);
    const failing = await startTask(here, 'throws');
    const { outcome: failed } = await failing.execution.settle();
    expect(failed).toMatchObject({ status: 'failed', error: { message: 'The tool failed' } });
    await here.close();
  });

  test('is asked on the stream of its session, since it only polls (B-09, B-10, C-20, C-21)', async () => {
    const here = await taskSession();
    const { execution, taskId } = await startTask(here, 'ask_twice');
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { last: YES } });
    expect(here.questions()).toEqual([
      ['elicitation', 'Once?', taskId],
      ['elicitation', 'Twice?', taskId],
    ]);
    await here.close();
  });

  test('after a restart finds its tasks, one working and one asking (C-16, C-20, F-05)', async () => {
    const before = await taskSession();
    const [sleeping, asking] = [await startTask(before, 'sleep', { ms: 1_000 }), await startTask(before, 'ask')];
    await before.waitFor(asking.taskId, 'input_required');
    await before.close();

    const after = await taskSession();
    const resume = (reference: string) => after.session.resumeTask(JSON.parse(reference) as SerializedTaskReference);
    const slept = await (await resume(sleeping.reference)).settle();
    expect(resultFromTaskOutcome(slept.outcome)).toMatchObject({ content: [{ text: 'slept 1000 ms' }] });
    // It knows the task before its question comes: ext-tasks cancels a question of a task that it does not know.
    const resumed = await resume(asking.reference);
    expect(await after.result(asking.taskId)).toMatchObject({ structuredContent: { answer: YES } });
    const { outcome } = await resumed.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { answer: YES, round: 2 } });
    expect(after.questions()).toEqual([['elicitation', 'Really?', asking.taskId]]);
    await after.close();
  });
});
