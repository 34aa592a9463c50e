import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { newTaskKey } from '../../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { modernMessage } from '../../../support/clients.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';
import { endpoint } from '../support/posted.ts';

const T0 = 1_700_000_000_000;
const OWNER = `owner#${'o'.repeat(26)}`;
const caller = { key: OWNER, scopes: [], enough: true, expires: 9e15, challengeAt: '/challenge' };

/**
 * A task that works until just after the `nth` read of the table. The answer of that read takes 100 s: it comes when
 * the deadline of the task has passed, and with it the time for slow last writes.
 */
function setup(nth: number) {
  let reads = 0;
  const clock = { now: T0 };
  const { server, records } = fakeServer({
    manifest: { ...manifest, auth: 'iam', helperTools: true },
    now: () => clock.now,
    async sleep(ms) {
      await setImmediate();
      clock.now += ms;
    },
  });
  const key = newTaskKey({ kind: 'verified', key: OWNER }, T0);
  const task = { tool: 'optional', ttl: 600_000, timeout: 60_000, accepts: [], legacy: true };
  const working = create(key, task, T0);
  records.set(working);
  function slow<A extends unknown[], T>(read: (...args: A) => Promise<T>) {
    return async (...args: A): Promise<T> => {
      const answer = await read(...args);
      if (++reads !== nth) return answer;
      const result = '{"content":[{"type":"text","text":"done"}]}';
      records.set({ ...working, status: 'completed', result, updatedAt: T0 + 50_000 } as TaskRecord);
      clock.now += 100_000;
      return answer;
    };
  }
  const { store } = server;
  Object.assign(store, { get: slow(store.get), getMany: slow(store.getMany), list: slow(store.list) });

  async function send(headers: object, body: object): Promise<string> {
    const accept = { accept: 'application/json, text/event-stream', ...headers };
    const request = { method: 'POST', headers: accept as Record<string, string>, body: JSON.stringify(body), caller };
    const reply = await endpoint(request, server);
    if (typeof reply.body === 'string') return reply.body;
    return (await Readable.from(reply.body).toArray()).join('');
  }
  const modern = (method: string, params: Record<string, unknown>) => {
    const { body, headers } = modernMessage(method, params);
    return send(headers, body);
  };
  const legacy = (method: string, params: object) =>
    send({ 'mcp-protocol-version': '2025-11-25' }, { jsonrpc: '2.0', id: 1, method, params });
  return { taskId: key.taskId, modern, legacy };
}

type Setup = ReturnType<typeof setup>;

describe('a read tells what held when it was sent, however long it takes (rows 14 and 17)', () => {
  test.each<[string, number, (setup: Setup) => Promise<string>, string]>([
    ['tasks/get, 2026-07-28', 1, ({ taskId, modern }) => modern('tasks/get', { taskId }), 'working'],
    ['tasks/get, 2025-11-25', 1, ({ taskId, legacy }) => legacy('tasks/get', { taskId }), 'working'],
    ['tasks/list', 1, ({ legacy }) => legacy('tasks/list', {}), 'working'],
    ['tasks/result', 2, ({ taskId, legacy }) => legacy('tasks/result', { taskId }), 'done'],
    [
      'subscriptions/listen',
      1,
      ({ taskId, modern }) => modern('subscriptions/listen', { notifications: { taskIds: [taskId] } }),
      'completed',
    ],
    [
      'get_task_result',
      2,
      ({ taskId, legacy }) => legacy('tools/call', { name: 'get_task_result', arguments: { taskId, wait: 30 } }),
      'done',
    ],
  ])('%s', async (_reader, nth, read, shown) => {
    const answer = await read(setup(nth));
    expect(answer).toContain(shown);
    expect(answer).not.toMatch(/DeadlineExceeded|failed|in time/);
  });
});
