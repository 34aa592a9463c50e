import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test, vi } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import type { ToolEntry } from '../../../../functions/mcp/manifest.ts';
import { helperTools } from '../../../../functions/mcp/methods/helper-tools.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { clients } from '../support/fake-clients.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

const T0 = 1_700_000_000_000;

/** A client without tasks, and a task made before. Time passes only while the server sleeps. */
async function setup(change: Partial<TaskRecord> = {}) {
  const at = { now: T0 };
  const waits: number[] = [];
  const fake = fakeServer({
    manifest: { ...manifest, helperTools: true },
    now: () => at.now,
    async sleep(ms) {
      waits.push(ms);
      at.now += ms;
    },
  });
  const here = clients(fake);
  const made = (await here.modern('tools/call', { name: 'optional' })).result as unknown as { taskId: string };
  const { taskId } = made;
  fake.records.set({ ...(fake.records.get(taskId) as TaskRecord), ...change });
  type Reply = { result?: { content: { text?: string }[]; structuredContent?: object; isError?: true } };
  const { tools } = (await here.modern('tools/list')).result as unknown as { tools: ToolEntry[] };
  const call = async (name: string, args: object = {}) => {
    const reply = await here.modern('tools/call', { name, arguments: { taskId, ...args } }, {});
    const { structuredContent } = (reply.result ?? {}) as { structuredContent?: object };
    // As its own outputSchema promises.
    const { outputSchema } = tools.find((tool) => tool.name === name) ?? {};
    if (structuredContent) expect(new Ajv2020().validate(outputSchema as object, structuredContent)).toBe(true);
    return reply as unknown as Reply & Pick<typeof reply, 'error'>;
  };
  return {
    ...{ ...fake, at, taskId, legacy: here.legacy, modern: here.modern },
    get: async (args: object = {}) => call('get_task_result', args),
    cancel: (args: object = {}) => call('cancel_task', args),
    waited: () => at.now - T0,
    call: (name: string, params: object) => here.modern('tools/call', { name, ...params }, {}),
  };
}
const asked = JSON.stringify({ inputRequests: { sure: { method: 'roots/list' } } });
const text = (words: string) => ({ type: 'text', text: words });

test('get_task_result counts as a poll: a client that asks in a loop is refused (E-29)', async () => {
  const { get } = await setup();
  for (let i = 0; i < limits.polls.burst; i++) expect((await get({ waitSeconds: 0 })).error).toBeUndefined();
  expect((await get({ waitSeconds: 0 })).error).toMatchObject({ message: expect.stringContaining('too often') });
});

describe('get_task_result shows a model', () => {
  test('a task that works: what to do, and when', async () => {
    const { get, taskId } = await setup({ statusMessage: 'step 1' });
    const next = `Call get_task_result again with {"taskId":"${taskId}"}.`;
    const { result } = await get({ waitSeconds: 0 });
    expect(result?.content).toEqual([text(`Task ${taskId} is working: step 1. ${next}`)]);
    const shown = { taskId, status: 'working', message: 'step 1', retryAfterSeconds: 1, next };
    expect(result?.structuredContent).toEqual(shown);
    expect(result).not.toHaveProperty('isError');
  });

  test.each<[string, Partial<TaskRecord>, string, object]>([
    ['without a word', { status: 'cancelled' }, 'cancelled.', {}],
    ['with the reason', { status: 'cancelled', statusMessage: 'Late' }, 'cancelled: Late.', { message: 'Late' }],
  ])('a task that was cancelled, %s', async (_name, change, words, more) => {
    const { get, taskId, waited } = await setup(change);
    const { result } = await get();
    expect(result?.content).toEqual([text(`Task ${taskId} is ${words}`)]);
    expect(result?.structuredContent).toEqual({ taskId, status: 'cancelled', ...more });
    expect(result).not.toHaveProperty('isError');
    expect(waited()).toBe(0);
  });

  test('a task that failed, as an error', async () => {
    const { get, taskId } = await setup({
      status: 'failed',
      statusMessage: 'Broken',
      error: '{"code":1,"message":"m"}',
    });
    const { result } = await get();
    expect(result).toMatchObject({ isError: true, content: [text(`Task ${taskId} is failed: Broken.`)] });
  });

  test.each<[string, string, object, object]>([
    ['a text', '"hi"', [text('hi')], { result: 'hi' }],
    ['an object', '{"n":1}', [text('{"n":1}')], { result: { n: 1 } }],
    [
      'two texts',
      '{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}',
      [text('a'), text('b')],
      {
        result: 'a\nb',
      },
    ],
    ['nothing', 'null', [], {}],
  ])('a result, in the structured content, too: %s', async (_name, result, content, more) => {
    const { get, taskId } = await setup({ status: 'completed', result });
    const shown = (await get()).result;
    expect(shown?.content).toEqual(content);
    expect(shown?.structuredContent).toStrictEqual({ taskId, status: 'completed', ...more });
    expect(shown).not.toHaveProperty('isError');
  });

  test('a result without text has none in the structured content', async () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const { get, taskId } = await setup({ status: 'completed', result: JSON.stringify({ content: [image] }) });
    const { result } = await get();
    expect(result?.content).toEqual([image]);
    expect(result?.structuredContent).toStrictEqual({ taskId, status: 'completed' });
  });

  test('a record without a result as an empty one', async () => {
    const { get } = await setup({ status: 'completed' });
    expect((await get()).result?.content).toEqual([]);
  });

  test('an error of the tool as an error', async () => {
    const result = '{"content":[{"type":"text","text":"No"}],"isError":true}';
    const { get } = await setup({ status: 'completed', isError: true, result });
    expect((await get()).result).toMatchObject({ isError: true, content: [text('No')] });
  });
});

describe('get_task_result waits', () => {
  test.each([
    ['20 s by default', {}, 20_000],
    ['as long as it is asked to', { waitSeconds: 2.5 }, 2_500],
    ['20 s at most', { waitSeconds: 20 }, 20_000],
    ['not at all', { waitSeconds: 0 }, 0],
  ])('%s', async (_name, args, waited) => {
    const here = await setup();
    await here.get(args);
    expect(here.waited()).toBe(waited);
  });

  test.each([-0.001, 20.001, '5', null])('%s is no time: an error result, and nothing waits', async (waitSeconds) => {
    const { get, waited } = await setup();
    const { result } = await get({ waitSeconds });
    expect(result).toMatchObject({ isError: true, content: [text('waitSeconds is a number from 0 to 20')] });
    expect(waited()).toBe(0);
  });

  test('not where the task asks already', async () => {
    const { get, waited } = await setup({ status: 'input_required', asked, accepts: ['roots/list'], arguments: '{}' });
    expect((await get()).result?.structuredContent).toMatchObject({ status: 'input_required' });
    expect(waited()).toBe(0);
  });

  test('until the task ends', async () => {
    const { get, waited, records, taskId, at, server } = await setup();
    const sleep = async (ms: number) => {
      at.now += ms;
      const record = records.get(taskId) as TaskRecord;
      if (waited() > 1_000) records.set({ ...record, status: 'completed', result: '"late"' });
    };
    Object.assign(server, { sleep });
    expect((await get()).result?.structuredContent).toMatchObject({ status: 'completed', result: 'late' });
    expect(waited()).toBeLessThan(2_000);
  });
});

describe('get_task_result', () => {
  test('is counted only if it waits (C-37)', async () => {
    const { server } = await setup();
    const id = '1'.repeat(36);
    const task = { tool: 'optional', ttl: 3_600_000, timeout: 60_000, accepts: [], legacy: false };
    await server.store.create(create({ owner: 'ann', taskId: id }, task, T0));
    const counted = vi.spyOn(server.store, 'openStream');
    const get = (waitSeconds: number) => {
      const call = { params: { arguments: { taskId: id, waitSeconds } }, wire: modernWire(manifest.serverInfo) };
      const principal = { kind: 'verified', key: 'ann', scopes: [] };
      return helperTools.get('get_task_result')?.call({ ...call, principal } as unknown as Call, server);
    };
    await get(0);
    expect(counted).not.toHaveBeenCalled();
    await get(1);
    expect(counted).toHaveBeenCalledTimes(1);
  });

  test('of a task that expires meanwhile does not find it', async () => {
    const { get, server, records, at } = await setup();
    const sleep = async (ms: number) => {
      at.now += ms;
      records.clear();
    };
    Object.assign(server, { sleep });
    expect((await get()).result).toMatchObject({ isError: true, content: [text('Task not found')] });
  });

  test('is no task: 2025-11-25 refuses, the other revisions ignore it (C-05, E-23, C-03)', async () => {
    const { modern, legacy, taskId } = await setup({ status: 'completed', result: '1' });
    const params = { arguments: { taskId }, task: {} };
    const message = 'Tool get_task_result cannot run as a task';
    const asked = { name: 'get_task_result', ...params };
    expect((await legacy('tools/call', asked)).error).toEqual({ code: -32601, message });
    expect((await legacy('tools/call', asked, '2025-06-18')).error).toBeUndefined();
    expect((await modern('tools/call', asked)).error).toBeUndefined();
  });
});

test('cancel_task cancels, and says so', async () => {
  const { cancel, records, taskId } = await setup();
  const { result } = await cancel();
  expect(records.get(taskId)?.status).toBe('cancelled');
  expect(result?.structuredContent).toMatchObject({ taskId, status: 'cancelled' });
});

test('cancel_task changes nothing of what is over (C-10, E-14)', async () => {
  const { cancel, taskId } = await setup({ status: 'completed', result: '{"a":1}' });
  const { result } = await cancel();
  expect(result?.structuredContent).toEqual({ taskId, status: 'completed', result: { a: 1 } });
});

test('an unknown task is an error result for the model; wrong arguments are an error (A-14)', async () => {
  const { get, cancel, call } = await setup();
  for (const ask of [get, cancel]) {
    expect((await ask({ taskId: 'x' })).result).toMatchObject({ isError: true, content: [text('Task not found')] });
  }
  const wrong = await call('get_task_result', { arguments: 'x' });
  expect(wrong.error).toEqual({ code: -32602, message: 'arguments must be an object' });
  expect((await call('get_task_result', {})).result).toMatchObject({ isError: true });
});
