import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ended, legacySession, modernRequest, poll } from '../support/clients.ts';
import { useCloud } from '../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const META = 'mcp-task-server/idempotencyKey';
const call = (key: string) =>
  modernRequest(url(), 'tools/call', { name: 'echo', arguments: { a: 1 } }, { headers: { 'idempotency-key': key } });

/** Repeats a call as a client does if API Gateway or the endpoint asks for it, as on a busy machine. */
async function taskIdOf(key: string): Promise<string> {
  const { status, body } = await call(key);
  if (body.result?.taskId !== undefined) return body.result.taskId;
  expect(status === 429 || status >= 500, JSON.stringify(body)).toBe(true);
  expect(['Unavailable', undefined]).toContain(body.error?.data?.reason);
  return taskIdOf(key);
}

describe('an idempotency key', () => {
  test('2025-11-25: in _meta, within a session; another session has other tasks under the same key', async () => {
    const params = { name: 'echo', arguments: {}, task: {}, _meta: { [META]: 'order-7' } };
    const [mine, other] = [await legacySession(url()), await legacySession(url())];
    const id = async (session: typeof mine) => (await session.request('tools/call', params)).body.result.task.taskId;
    expect(await id(mine)).toBe(await id(mine));
    expect(await id(other)).not.toBe(await id(mine));
  });

  test('1,000 parallel creates with 100 keys make exactly 100 tasks and 100 executions', async () => {
    const before = cloud().stepFunctions.executions().length;
    const keys = Array.from({ length: 100 }, () => randomUUID());
    const ids = new Set<string>();
    const queue = Array.from({ length: 1_000 }, (_, i) => keys[i % 100] as string);
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        for (let key = queue.pop(); key !== undefined; key = queue.pop()) ids.add(await taskIdOf(key));
      }),
    );
    expect(ids.size).toBe(100);
    for (const id of ids) expect((await poll(url(), id, ended)).status).toBe('completed');
    expect(cloud().stepFunctions.executions().length - before).toBe(100);
  });
});
