import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { type Answer, legacySession, modernRequest } from '../support/clients.ts';
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

/** Calls a tool. Its structured content must fit the schema in tools/list. */
async function help(era: Era, name: string, args: object): Promise<Answer['body']> {
  const request = await client(era);
  const { tools } = (await request('tools/list')).result;
  const { outputSchema } = tools.find((tool: { name: string }) => tool.name === name);
  const { result } = await request('tools/call', { name, arguments: args });
  const fits = ajv.validate(outputSchema, result.structuredContent);
  expect([fits, ajv.errors]).toEqual([true, null]);
  return result;
}

describe.concurrent.each(ERAS)('tools for clients that know no tasks, %s', (era) => {
  test('come last in the list, with all that a model must know', async () => {
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
});
