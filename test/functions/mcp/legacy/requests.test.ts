import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeServer } from '../support/fake-server.ts';
import { legacyServer, sure, YES } from '../support/legacy-server.ts';
import { legacyCall } from '../support/posted.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** A task that asks, its client, and the id of its question. */
async function asked() {
  const here = legacyServer(sure);
  const client = await here.session();
  const taskId = await client.create();
  let question: unknown;
  const { lastId } = await client.request('tasks/result', { taskId }, async ({ id, method }) => {
    if (method === undefined) return;
    question = id;
    await client.respond(id, YES);
  });
  return { ...here, client, taskId, question, lastId };
}

describe('a stream is not opened, and the client learns that it may post (B-09)', () => {
  test('if its answer was sent', async () => {
    const { client, lastId } = await asked();
    expect(await client.resume(lastId)).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  test('if the event id is none of this session (B-11)', async () => {
    const { client } = await asked();
    expect(await client.listen('planted')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });
});

describe('an answer of 2025-11-25', () => {
  test('to no question of this server is refused in a sentence (B-19)', async () => {
    const { client } = await asked();
    const { status, error } = await client.respond('planted', YES);
    expect([status, error.message]).toEqual([400, 'No request of this server is waiting for this answer']);
  });

  test('to a closed question is taken and ignored, whatever it holds (B-19)', async () => {
    const { client, question, server, records, taskId } = await asked();
    const before = records.get(taskId);
    const apply = vi.spyOn(server.store, 'apply');
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const content = '{"ok":true,"n":9007199254740993}';
    const answer = `{"jsonrpc":"2.0","id":${JSON.stringify(question)},"result":{"action":"accept","content":${content}}}`;
    expect((await client.post(answer as unknown as object)).status).toBe(202);
    expect([records.get(taskId), apply.mock.calls]).toEqual([before, []]);
  });

  test('that cannot be stored is no invalid one: nothing else is written', async () => {
    const here = legacyServer(sure);
    const client = await here.session();
    const taskId = await client.create();
    const apply = vi.spyOn(here.server.store, 'apply').mockRejectedValue(new Error('planted'));
    const replies: number[][] = [];
    await client.request('tasks/result', { taskId }, async ({ id, method }) => {
      if (method !== undefined) replies.push([(await client.respond(id, YES)).status, apply.mock.calls.length]);
    });
    expect(replies).toEqual([[500, 1]]);
  });
});

test('an unexpected error of a method is logged by its name (A-15)', async () => {
  const { server } = fakeServer({ invoke: () => Promise.reject(new Error('planted')) });
  expect((await legacyCall(server, 'tools/call', { name: 'plain' })).error.code).toBe(-32603);
  expect(JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0])).toMatchObject({ where: 'tools/call' });
});

test('a client without a session is asked nothing: its task accepts no questions', async () => {
  const { server, records } = fakeServer();
  await legacyCall(server, 'tools/call', { name: 'optional', task: {} });
  expect(records.all()).toEqual([expect.not.objectContaining({ accepts: expect.anything() })]);
});
