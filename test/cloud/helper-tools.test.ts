import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { type Answer, legacySession, modernMessage, modernRequest, openStream, poll } from '../support/clients.ts';
import { useCloud } from '../support/cloud.ts';

// Calls without a task wait one second here; the tools of these tests take longer.
const cloud = useCloud('brief');
const url = () => `${cloud().url}/mcp`;
const HELPERS = ['get_task_result', 'cancel_task'];
const ERAS = ['2025-11-25', '2026-07-28'] as const;
type Era = (typeof ERAS)[number];
const ajv = new Ajv2020({ allErrors: true });

/** A client that knows no tasks. */
async function client(era: Era) {
  if (era === '2026-07-28') {
    return async (method: string, params: Record<string, unknown> = {}): Promise<Answer['body']> =>
      (await modernRequest(url(), method, params, { capabilities: {} })).body;
  }
  const session = await legacySession(url(), {});
  // Without streams the answer is one body, in this revision too.
  return async (method: string, params: Record<string, unknown> = {}): Promise<Answer['body']> =>
    (await session.request(method, params, { accept: 'application/json' })).body;
}

/** Calls a tool; what it says in structured form must fit what tools/list promises of it. */
async function help(era: Era, name: string, args: object): Promise<Answer['body']> {
  const request = await client(era);
  const { tools } = (await request('tools/list')).result;
  const { outputSchema } = tools.find((tool: { name: string }) => tool.name === name);
  const { result } = await request('tools/call', { name, arguments: args });
  const fits = ajv.validate(outputSchema, result.structuredContent);
  expect([fits, ajv.errors]).toEqual([true, null]);
  return result;
}

const taskIn = (result: Answer['body']): string => /"taskId":"([^"]+)"/.exec(result.content[0].text)?.[1] ?? '';

/** A task of a client that knows them, in the state it stays in. */
async function task(name: string, args: object, until: string): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name, arguments: args });
  await poll(url(), body.result.taskId, ({ status }) => status === until);
  return body.result.taskId;
}

describe.concurrent.each(ERAS)('tools for clients that know no tasks, %s', (era) => {
  test('come last in the list, with all that a model must know of them', async () => {
    const { tools } = (await (await client(era))('tools/list')).result;
    const helpers: Answer['body'][] = tools.slice(-HELPERS.length);
    expect(helpers.map(({ name }) => name)).toEqual(HELPERS);
    for (const { description, inputSchema, outputSchema, annotations, execution } of helpers) {
      expect(description).toMatch(/task/);
      expect(inputSchema).toMatchObject({ type: 'object', required: ['taskId'] });
      expect(outputSchema).toMatchObject({ type: 'object', required: ['taskId', 'status'] });
      expect(annotations).toMatchObject({ openWorldHint: false });
      expect(execution).toBeUndefined();
    }
    expect(helpers.map(({ annotations }) => annotations.readOnlyHint)).toEqual([true, false]);
  });

  test('a call whose window closes names its task; get_task_result waits for the real result', async () => {
    const request = await client(era);
    const { result } = await request('tools/call', { name: 'sleep', arguments: { ms: 3_000 } });
    const { taskId } = result.structuredContent;
    const next =
      `Tool sleep is still running as task ${taskId}. It has not failed: do not call it again. ` +
      `Call get_task_result with {"taskId":"${taskId}"} to get its result.`;
    expect(result.structuredContent).toEqual({ taskId, status: 'working', next });
    expect(result.content).toEqual([{ type: 'text', text: next }]);
    expect(result).not.toHaveProperty('isError');
    const done = await help(era, 'get_task_result', { taskId, waitSeconds: 20 });
    expect(done.content).toEqual([{ type: 'text', text: 'slept 3000 ms' }]);
    expect(done.structuredContent).toEqual({ taskId, status: 'completed', result: 'slept 3000 ms' });
  });

  test('with an outputSchema that is not an error either, and fits the listed schema (A-19, F-14)', async () => {
    const request = await client(era);
    const result = await help(era, 'slow_promise', {});
    expect(result).not.toHaveProperty('isError');
    expect(result.structuredContent).toMatchObject({ status: 'working', next: result.content[0].text });
    const { tools } = (await request('tools/list')).result;
    const { outputSchema } = tools.find(({ name }: { name: string }) => name === 'slow_promise');
    expect(outputSchema.type).toBe('object');
    expect(ajv.validate(outputSchema, { n: 1 })).toBe(true);
    expect(ajv.validate(outputSchema, { n: 'x' })).toBe(false);
    const done = await help(era, 'get_task_result', { taskId: taskIn(result) });
    expect(done.structuredContent).toMatchObject({ status: 'completed', result: { n: 1 } });
    expect(done.content).toEqual([{ type: 'text', text: '{"n":1}' }]);
  });

  test('a result that is an error stays one (A-14, A-19)', async () => {
    const json = JSON.stringify({ content: [{ type: 'text', text: 'no such order' }], isError: true });
    const [failed, broken] = await Promise.all([
      task('returns', { json }, 'completed'),
      task('broken_promise', {}, 'completed'),
    ]);
    const report = await help(era, 'get_task_result', { taskId: failed });
    expect(report).toMatchObject({ isError: true, content: [{ text: 'no such order' }] });
    expect(await help(era, 'get_task_result', { taskId: broken })).toMatchObject({ isError: true });
  });

  test('a task that failed is an error result that says why, and nothing of how (A-14, A-15)', async () => {
    const taskId = await task('throws', {}, 'failed');
    const report = await help(era, 'get_task_result', { taskId });
    expect(report).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('The tool failed') }] });
    expect(report.structuredContent).toEqual({ taskId, status: 'failed', message: 'The tool failed' });
    expect(JSON.stringify(report)).not.toContain('secret');
  });

  test('a task that asks is shown at once, and can be cancelled', async () => {
    const taskId = await task('ask', {}, 'input_required');
    const report = await help(era, 'get_task_result', { taskId, waitSeconds: 20 });
    expect(report.structuredContent).toMatchObject({ status: 'input_required' });
    const cancelled = await help(era, 'cancel_task', { taskId });
    expect(cancelled.structuredContent).toMatchObject({ taskId, status: 'cancelled' });
  });

  test('of work that goes on it says when to ask again; cancel_task ends it, and says so each time', async () => {
    const request = await client(era);
    const { result } = await request('tools/call', { name: 'sleep', arguments: { ms: 20_000 } });
    const { taskId } = result.structuredContent;
    const now = await help(era, 'get_task_result', { taskId, waitSeconds: 0 });
    expect(now.structuredContent).toEqual({
      ...{ taskId, status: 'working', retryAfterSeconds: expect.any(Number) },
      next: `Call get_task_result again with {"taskId":"${taskId}"}.`,
    });
    expect(now.content[0].text).toMatch(/is working/);
    const first = await help(era, 'cancel_task', { taskId });
    expect(first.structuredContent).toEqual({ taskId, status: 'cancelled', message: expect.any(String) });
    expect(first.content[0].text).toMatch(/cancelled/);
    expect(await help(era, 'cancel_task', { taskId })).toEqual(first);
    expect((await help(era, 'get_task_result', { taskId })).structuredContent.status).toBe('cancelled');
    const running = cloud().stepFunctions.executions();
    expect(running.find(({ name }) => name.startsWith(taskId))?.status).not.toBe('RUNNING');
  });

  test('cancel_task changes nothing of what is over (C-10, E-14)', async () => {
    const taskId = await task('echo', { a: 1 }, 'completed');
    const report = await help(era, 'cancel_task', { taskId });
    expect(report.structuredContent).toEqual({ taskId, status: 'completed', result: { a: 1 } });
  });

  test.each<[string, Record<string, unknown>]>([
    ['no id', {}],
    ['an invalid id', { taskId: 5 }],
    ['an id of nothing', { taskId: '0'.repeat(36) }],
    ['an invalid waiting time', { taskId: '0'.repeat(36), waitSeconds: 'long' }],
    ['a waiting time that is too long', { taskId: '0'.repeat(36), waitSeconds: 21 }],
    ['one that is negative', { taskId: '0'.repeat(36), waitSeconds: -1 }],
  ])('%s: an error result a model can read, as of any tool (A-14)', async (_what, args) => {
    const request = await client(era);
    const answer = await request('tools/call', { name: 'get_task_result', arguments: args });
    expect(answer.result).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.any(String) }] });
  });

  test('arguments that are no object break the request (A-13)', async () => {
    const request = await client(era);
    for (const name of HELPERS) {
      expect((await request('tools/call', { name, arguments: [] })).error.code).toBe(-32602);
    }
  });
});

test('a window closes on the stream of a call just the same (A-07, D-26)', async () => {
  const { body, headers } = modernMessage(
    'tools/call',
    { name: 'sleep', arguments: { ms: 3_000 } },
    { capabilities: {} },
  );
  const _meta = { ...body.params._meta, progressToken: 'mine' };
  const stream = await openStream(url(), { ...body, params: { ...body.params, _meta } }, headers);
  expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const messages: Answer['body'][] = [];
  for await (const { data } of stream.events) messages.push(data);
  expect(messages).toMatchObject([{ id: body.id, result: { structuredContent: { status: 'working' } } }]);
});
