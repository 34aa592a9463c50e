import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ended, legacySession, modernRequest, poll } from '../support/clients.ts';
import { useCloud } from '../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const META = 'mcp-task-server/idempotencyKey';
const call = (key: string, args: object = { a: 1 }, name = 'echo') =>
  modernRequest(url(), 'tools/call', { name, arguments: args }, { headers: { 'idempotency-key': key } });

/** As a client does that API Gateway or the endpoint asks to try again, as on a busy machine: it repeats the call. */
async function taskIdOf(key: string): Promise<string> {
  const { status, body } = await call(key);
  if (body.result?.taskId !== undefined) return body.result.taskId;
  expect(status === 429 || status >= 500, JSON.stringify(body)).toBe(true);
  expect(['Unavailable', undefined]).toContain(body.error?.data?.reason);
  return taskIdOf(key);
}

describe('an idempotency key', () => {
  test('the same call again is the same task, finished or not; the work is done once', async () => {
    const key = randomUUID();
    const first = await call(key);
    const again = await call(key);
    expect(again.body.result.taskId).toBe(first.body.result.taskId);
    const done = await poll(url(), first.body.result.taskId, ended);
    expect((await call(key)).body.result).toMatchObject({
      taskId: done.taskId,
      resultType: 'task',
    });
    const names = cloud()
      .stepFunctions.executions()
      .map(({ name }) => name);
    expect(names.filter((name) => name.startsWith(done.taskId))).toHaveLength(1);
  });

  test('other arguments or another tool under the same key are refused, and nothing is stored', async () => {
    const key = randomUUID();
    await call(key, { a: 1, b: [1, 2] });
    expect((await call(key, { b: [1, 2], a: 1 })).body.error).toBeUndefined();
    for (const [args, name] of [
      [{ a: 2 }, 'echo'],
      [{ a: 1, b: [1, 2] }, 'returns'],
    ] as const) {
      const { body } = await call(key, args, name);
      expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining('idempotency key') });
    }
  });

  test('2025-11-25: in _meta, within a session; another session has other tasks under the same key', async () => {
    const params = { name: 'echo', arguments: {}, task: {}, _meta: { [META]: 'order-7' } };
    const [mine, other] = [await legacySession(url()), await legacySession(url())];
    const id = async (session: typeof mine) => (await session.request('tools/call', params)).body.result.task.taskId;
    expect(await id(mine)).toBe(await id(mine));
    expect(await id(other)).not.toBe(await id(mine));
  });

  test('without a session a guessable key is refused: others could use it', async () => {
    expect((await call('order-7')).body.error).toMatchObject({ code: -32602, message: expect.stringContaining('32') });
    for (const key of ['', 'x'.repeat(256), 5]) {
      const { body } = await modernRequest(
        url(),
        'tools/call',
        { name: 'echo', _meta_: 0, arguments: {} },
        { headers: { 'idempotency-key': String(key) || ' ' } },
      );
      expect(body.error?.code).toBe(-32602);
    }
  });

  test('a call without a task is repeated safely, too', async () => {
    const key = randomUUID();
    const plain = () =>
      modernRequest(url(), 'tools/call', { name: 'event' }, { capabilities: {}, headers: { 'idempotency-key': key } });
    const [one, two] = [await plain(), await plain()];
    expect(one.body.result.structuredContent.event.task.taskId).toBe(
      two.body.result.structuredContent.event.task.taskId,
    );
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
