import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { clients } from '../support/fake-clients.ts';
import { fakeServer } from '../support/fake-server.ts';
import { endpoint } from '../support/posted.ts';

const T0 = 1_700_000_000_000;
const FORM = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
const asked = JSON.stringify({ inputRequests: { sure: FORM } });

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

describe('a tool that is called directly', () => {
  const told = (outcome: { text: string } | { error: string }, era: 'legacy' | 'modern' = 'modern') =>
    clients(fakeServer({ invoke: async () => outcome }))[era]('tools/call', { name: 'plain' });

  test('and takes too long: a result that says how long', async () => {
    const text = 'Tool plain did not answer within 60 seconds';
    expect((await told({ error: 'timeout' })).result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text }],
    });
  });

  test('and fails: an error with its name (A-15)', async () => {
    expect((await told({ error: 'TypeError' })).error).toEqual({
      ...{ code: -32603, message: 'The tool failed', data: { reason: 'TypeError' } },
    });
  });

  test('and returns no JSON: an error', async () => {
    expect((await told({ text: 'NaN' })).error).toEqual({
      ...{ code: -32603, message: 'The tool did not return JSON', data: { reason: 'InvalidJson' } },
    });
  });

  test('and asks in 2025-11-25: an error that says what it needs', async () => {
    const { error } = await told({ text: JSON.stringify({ inputRequests: { sure: FORM } }) }, 'legacy');
    expect(error?.message).toBe('The tool asked for input, which it can do in 2025-11-25 only if it may run as a task');
  });

  test('and whose answer is lost: the log says so', async () => {
    const lost = Object.assign(new Error('x'), { code: 'ECONNRESET' });
    await clients(fakeServer({ invoke: () => Promise.reject(lost) })).modern('tools/call', { name: 'plain' });
    expect(JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0])).toMatchObject({ where: 'direct call' });
  });
});

/** A 2025-11-25 client of a tool that works until `change` at `ms`. Time passes only while the server sleeps. */
async function waiting(accept: string, change: Partial<TaskRecord> = {}, ms = 0) {
  const at = { now: T0 };
  const fake = fakeServer({
    now: () => at.now,
    async sleep(pause) {
      at.now += pause;
      if (at.now < T0 + ms) return;
      for (const record of fake.records.all()) {
        if (record.status === 'working') fake.records.set({ ...record, updatedAt: at.now, ...change });
      }
    },
  });
  const counted = vi.spyOn(fake.server.store, 'openStream');
  const send = async (method: string, params: object, session?: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { accept, 'mcp-protocol-version': '2025-11-25', ...(session && { 'mcp-session-id': session }) };
    const reply = await endpoint({ method: 'POST', headers, body }, fake.server);
    const message = typeof reply.body === 'string' && reply.body !== '' ? JSON.parse(reply.body) : undefined;
    return { ...reply, message };
  };
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'c', version: '1' },
  };
  const session = (await send('initialize', hello)).headers['mcp-session-id'];
  return {
    ...{ ...fake, counted },
    waited: () => at.now - T0,
    call: (params: object = {}) => send('tools/call', { name: 'optional', ...params }, session),
    result: (taskId: string) => send('tasks/result', { taskId }, session),
  };
}
const JSON_ONLY = 'application/json';
const BOTH = 'application/json, text/event-stream';
const done = { status: 'completed', result: '"done"' } as const;

describe('a client without streams that waits', () => {
  test('for the result of a task gets an error when the server has waited long enough (C-18)', async () => {
    const { call, result, waited } = await waiting(JSON_ONLY);
    const { message } = await call({ task: {} });
    const late = await result(message.result.task.taskId);
    expect(late.message.error.message).toBe('The task is not finished: accept text/event-stream to wait longer');
    expect(waited()).toBe(50_000);
  });

  test('for a call learns that the tool still runs when the inline window ends', async () => {
    const { call, waited } = await waiting(JSON_ONLY);
    expect((await call()).message.result.content[0].text).toContain('is still running');
    expect(waited()).toBe(25_000);
  });

  test('is counted if it waits longer than 300 ms (C-37)', async () => {
    const quick = await waiting(JSON_ONLY, done, 250);
    expect((await quick.call()).message.result.content[0].text).toBe('done');
    expect(quick.counted).not.toHaveBeenCalled();
    const slow = await waiting(JSON_ONLY, done, 1_000);
    await slow.call();
    expect(slow.counted).toHaveBeenCalledTimes(1);
  });

  test('cannot be asked: its call is cancelled, and says why (B-17)', async () => {
    const { call, records, did } = await waiting(JSON_ONLY, {
      status: 'input_required',
      asked,
      accepts: [FORM.method],
    });
    const { message } = await call();
    const text = 'Tool optional needs input, which can only be asked for on a text/event-stream.';
    expect(message.result).toEqual({ isError: true, content: [{ type: 'text', text }] });
    expect(records.all()[0]?.status).toBe('cancelled');
    expect(did).not.toContain('stop');
  });

  test('for the result of a task that asks waits on: another client may answer', async () => {
    const { call, result, records, waited } = await waiting(JSON_ONLY, {
      ...{ status: 'input_required', asked, accepts: [FORM.method] },
    });
    const { message } = await call({ task: {} });
    expect((await result(message.result.task.taskId)).message.error.code).toBe(-32603);
    expect(waited()).toBe(50_000);
    expect(records.all()[0]?.status).toBe('input_required');
  });
});

test('a question is put on a stream at once, before the 300 ms of a quick answer are over', async () => {
  const { call, waited } = await waiting(BOTH, { status: 'input_required', asked, accepts: [FORM.method] });
  const reply = await call();
  expect(reply.headers['content-type']).toBe('text/event-stream');
  expect(waited()).toBe(50);
});
