import { expect, test } from 'vitest';
import { limits } from '../../functions/tasks/limits.ts';
import { type Answer, ended, legacySession, modernRequest, poll, runTask } from '../support/clients.ts';
import { useCloud } from '../support/cloud.ts';

/** One container sees everything: what it counts is its own (E-29). */
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

/** Until it is told to wait; how often it was not. */
async function hammer(request: () => Promise<Answer>) {
  for (let served = 0; served < 3 * burst; ) {
    const answers = await Promise.all(Array.from({ length: ATONCE }, request));
    served += answers.filter(({ status }) => status === 200).length;
    const refused = answers.find(({ status }) => status !== 200);
    if (refused !== undefined) return { served, refused };
  }
  throw new Error('It was never told to wait');
}

test.each(['2026-07-28', '2025-11-25'])(
  '%s: a client that polls in a loop is told to wait, at no cost, and is served again then (E-29)',
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
    // One read for each that was served, of its task; and of the session, where a task of its asks.
    const reads = readsSince(mark);
    expect(reads).toHaveLength(version === '2026-07-28' ? served : 2 * served);
    expect(reads.every(({ operation }) => operation === 'GetItem')).toBe(true);
    await expect.poll(async () => (await get()).status, { interval: 250, timeout: 10_000 }).toBe(200);
    expect((await runTask(url(), 'echo', {})).status).toBe('completed');
  },
);

test('meanwhile another client, at the poll interval of its task, is served (E-29)', async () => {
  const taskId = await working();
  const [, other] = await Promise.all([
    hammer(() => modernRequest(url(), 'tasks/get', { taskId })),
    modernRequest(url(), 'tools/call', { name: 'sleep', arguments: { ms: 500 } }).then(({ body }) =>
      poll(url(), body.result.taskId, ended),
    ),
  ]);
  expect(other.status).toBe('completed');
});
