import { describe, expect, test } from 'vitest';
import { limits } from '../../../functions/tasks/limits.ts';
import { type Answer, ended, legacySession, modernRequest, poll, runTask } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

/** One container for all requests, as each container counts by itself (E-29). */
const cloud = useCloud('brief', { maxWorkersPerFunction: 1 });
const url = () => `${cloud().url}/mcp`;
const { burst } = limits.polls;
const ATONCE = 10;

const readsSince = (mark: number) =>
  cloud()
    .calls.since(mark)
    .filter(({ caller, service }) => service === 'dynamodb' && caller.startsWith('ServerEndpoint'));

async function working(): Promise<string> {
  const { body } = await modernRequest(url(), 'tools/call', { name: 'ask', arguments: {} });
  await poll(url(), body.result.taskId, (task) => task.status === 'input_required');
  return body.result.taskId;
}

/** Polls until the answer says to wait. Returns the number of polls before that. */
async function hammer(request: () => Promise<Answer>) {
  for (let served = 0; served < 3 * burst; ) {
    const answers = await Promise.all(Array.from({ length: ATONCE }, request));
    served += answers.filter(({ status }) => status === 200).length;
    // Others were refused before they were read, on a busy machine.
    const refused = answers.find(({ status }) => status === 429);
    if (refused !== undefined) return { served, refused };
  }
  throw new Error('The server never said to wait');
}

test.each(['2026-07-28', '2025-11-25'])(
  '%s: a client that polls in a loop gets 429 at no cost, and is served again later (E-29)',
  async (version) => {
    const taskId = await working();
    const { request } = await legacySession(url());
    const get = () =>
      version === '2026-07-28' ? modernRequest(url(), 'tasks/get', { taskId }) : request('tasks/get', { taskId });
    // The first one of a session notes the question that it may have to be asked.
    await get();
    const mark = cloud().calls.mark();
    const { served, refused } = await hammer(get);
    expect(served).toBeGreaterThan(burst - 100);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]$/);
    expect(refused.body).toMatchObject({ id: expect.any(Number), error: { code: -32600 } });
    // Each served poll reads the task and its progress, and the session if one of its tasks asks.
    const reads = readsSince(mark);
    expect(reads).toHaveLength(version === '2026-07-28' ? 2 * served : 3 * served);
    const units = reads.reduce((sum, { consumed }) => sum + (consumed?.table ?? 99), 0);
    expect(units / served).toBe(version === '2026-07-28' ? 1.5 : 2.5);
    expect(reads.every(({ operation }) => operation === 'GetItem')).toBe(true);
    await expect.poll(async () => (await get()).status, { interval: 250 }).toBe(200);
    expect((await runTask(url(), 'echo', {})).status).toBe('completed');
  },
);

describe('more calls than workers, for longer than they wait for one', () => {
  // 30 s of waiting are two here.
  const small = useCloud('brief', { maxWorkersPerFunction: 1, sharedWorkers: false, timeScale: 15 });

  test('get HTTP 500 with JSON-RPC, as when Lambda throttles, and succeed on retry (A-15)', async () => {
    const at = `${small().url}/mcp`;
    const { body } = await modernRequest(at, 'tools/call', { name: 'sleep', arguments: { ms: 1 } });
    const session = await legacySession(at);
    const task = (await session.request('tools/call', { name: 'ask', arguments: {}, task: {} })).body.result.task;
    const message = { jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId: task.taskId } };
    const json = 'application/json';
    const headers = { ...session.headers, 'content-type': json, accept: `${json}, text/event-stream` };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => fetch(at, { method: 'POST', headers, body: JSON.stringify(message) })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(answers.length);
    // The request was not read: there is no id to answer to.
    for (const answer of refused) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([500, '1']);
      expect(await answer.json()).toEqual({
        jsonrpc: '2.0',
        error: { code: -32603, message: expect.stringContaining('try again') },
      });
    }
    for (const answer of answers.filter(({ status }) => status === 200)) await answer.body?.cancel();
    expect((await poll(at, body.result.taskId, ended)).status).toBe('completed');
  });
});
