import { describe, expect, test } from 'vitest';
import { useCrashCloud } from '../../proofs/faults/crash-table/cloud.ts';
import { ended, legacySession, modernRequest, poll, post } from '../../support/clients.ts';
import { useAssembly } from '../../support/cloud.ts';
import { follow, type Message } from '../legacy/follow.ts';

const { url, start, stored, runsOf, sweepAfter } = useCrashCloud({ assembly: useAssembly('test/cloud/waits/app.ts') });
const [MINUTE, DAY] = [60_000, 86_400_000];

const URLS = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: { form: {}, url: {} } };

/** Posts a body, and returns the status of the answer. */
const send = async (to: string, body: string, type = 'application/json') =>
  (await fetch(to, { method: 'POST', headers: { 'content-type': type }, body })).status;

describe.each(['author', 'author_express'])('%s', (tool) => {
  const does = (what: string, args: object = {}) => start(tool, { do: what, ...args });
  const waits = (taskId: string) => expect.poll(async () => (await stored(taskId)).status).toBe('waiting');
  const result = async (taskId: string) => {
    const { status, result: found } = await poll(url(), taskId, ended);
    expect(status).toBe('completed');
    return found.structuredContent;
  };

  test('a tool sleeps for a day beside a question, and its variables go with it', async () => {
    const taskId = await does('sleep', { time: { days: 1 } });
    await poll(url(), taskId, ({ status }) => status === 'input_required');
    const inputResponses = { 'r1.sure': { action: 'accept', content: {} } };
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses });
    await waits(taskId);
    expect(JSON.parse((await stored(taskId)).waits ?? '')).toEqual({
      night: { kind: 'time', until: expect.any(Number) },
    });
    await sweepAfter(DAY + MINUTE);
    const { slept, ...rest } = await result(taskId);
    expect(rest).toEqual({ before: 'the sleep', round: 3, sure: { sure: { action: 'accept', content: {} } } });
    expect(slept).toBeGreaterThanOrEqual(DAY);
    expect(slept).toBeLessThan(DAY + 5 * MINUTE);
    if (tool === 'author') expect(runsOf(taskId)).toHaveLength(3);
  });

  test('a person answers by a link of the client, another system sends, and a condition is checked', async () => {
    // A question of more than 4 KB lies in S3.
    const args = { do: 'buy', text: `Buy it? ${'x'.repeat(5_000)}` };
    const call = await modernRequest(url(), 'tools/call', { name: tool, arguments: args }, { capabilities: URLS });
    const { taskId } = call.body.result;
    const { inputRequests } = await poll(url(), taskId, ({ status }) => status === 'input_required');
    const { message, url: link } = inputRequests['r1.open'].params;
    const hook = message.split(' ').at(-1);
    expect(await send(hook, '{"n":"one"}')).toBe(422);
    expect(await send(hook, '{"n":1}')).toBe(200);
    expect(await (await fetch(link)).text()).toContain('Buy it? xxx');
    expect(await send(link, 'action=accept&f0=true&by=Ann', 'application/x-www-form-urlencoded')).toBe(200);
    await modernRequest(url(), 'tasks/update', { taskId, inputResponses: { 'r1.open': { action: 'accept' } } });
    await expect.poll(async () => (await stored(taskId)).waits).toContain('"ready"');
    await sweepAfter(6 * MINUTE);
    expect(await result(taskId)).toEqual({
      open: 'accept',
      answer: { action: 'accept', content: { ok: true }, by: 'Ann', at: expect.any(Number) },
      payment: { body: { n: 1 }, at: expect.any(Number) },
      ready: { at: 3 },
    });
    expect([await send(hook, '{"n":2}'), await send(link, '{}')]).toEqual([410, 410]);
  });

  test('a sleep past the deadline of its task is refused at once', async () => {
    const taskId = await does('sleep', { time: { days: 101 } });
    const { result: refused } = await poll(url(), taskId, ended);
    expect(refused.content[0].text).toMatch(/^Sleep 'night' ends after the deadline of its task, \d{4}-/);
  });
});

test('a 2025-11-25 client with a link hears on its stream that it is answered (B-18)', async () => {
  const client = await legacySession(url(), { elicitation: { form: {}, url: {} } });
  // A question of more than 4 KB lies in S3.
  const args = { do: 'buy', text: 'x'.repeat(5_000) };
  const made = await client.request('tools/call', { name: 'author', arguments: args, task: {} });
  const { taskId } = made.body.result.task;
  let link = '';
  const on = async ({ id, method, params }: Message) => {
    if (method !== 'elicitation/create') return;
    link = params.url;
    expect(await send(params.message.split(' ').at(-1), '{"n":1}')).toBe(200);
    await post(url(), { jsonrpc: '2.0', id, result: { action: 'accept' } }, client.headers);
    await expect.poll(async () => (await stored(taskId)).round).toBe(2);
    expect(await send(link, '{"action":"accept","content":{"ok":true}}')).toBe(200);
  };
  const { asked, answer } = await follow(url(), client, 'tasks/result', { taskId }, { on });
  const { elicitationId } = asked[0].params;
  expect(asked.map(({ method }) => method)).toEqual(['elicitation/create', 'notifications/elicitation/complete']);
  expect(asked[1].params).toEqual({ elicitationId });
  expect(answer.result.structuredContent).toMatchObject({ open: 'accept', payment: { body: { n: 1 } } });
});

test('a map works for longer than its function may run', async () => {
  const taskId = await start('author_short', { do: 'map', count: 12, ms: 800 });
  const { status, result } = await poll(url(), taskId, ended);
  expect(status).toBe('completed');
  const { rounds } = result.structuredContent;
  expect(rounds).toHaveLength(12);
  expect(rounds).toEqual(rounds.toSorted());
  expect(rounds.at(-1)).toBeGreaterThan(1);
  expect((await stored(taskId)).round).toBe(rounds.at(-1));
}, 60_000);
