import { describe, expect, test } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { type Headers_, modernMessage } from '../../../support/clients.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';
import { exchanged } from '../support/posted.ts';

const START = 1_700_000_000_000;
const MOST = 3;
const PLAIN = { capabilities: {} };

/** A server that Ann calls, with time that passes only while it sleeps, and one task of hers that ends after 2 s. */
async function setup({ streams = 0, caller = true }: { streams?: number; caller?: boolean } = {}) {
  let now = START;
  const held = new Set<object>(Array.from({ length: streams }, () => ({})));
  const seen: number[] = [];
  const opened: { owner: string; most: number; longest: number }[] = [];
  const fake = fakeServer({
    now: () => now,
    async sleep(ms) {
      seen.push(held.size - streams);
      now += ms;
      if (now >= START + 2_000) for (const taskId of fake.records.ids()) change(taskId, { status: 'completed' });
    },
    manifest: { ...manifest, helperTools: true, maxStreams: MOST, ...(caller && { auth: 'oauth' }) },
  });
  fake.server.store.getMany = async (keys) => keys.flatMap(({ taskId }) => fake.records.get(taskId) ?? []);
  fake.server.store.openStream = async (owner, most, _now, longest) => {
    opened.push({ owner, most, longest });
    if (held.size >= most) return undefined;
    const stream = { owner, window: 0 };
    held.add(stream);
    return stream;
  };
  fake.server.store.closeStream = async (stream) => void held.delete(stream);
  const change = (taskId: string, to: Partial<TaskRecord>) => {
    const record = fake.records.get(taskId);
    if (record !== undefined) fake.records.set({ ...record, updatedAt: now, result: '{"n":1}', ...to });
  };

  const send = (body: object | undefined, headers: Headers_) =>
    exchanged(fake.server, body, headers, undefined, caller ? { caller: { key: 'ann', scopes: [] } } : {});
  const modern = (method: string, params: Record<string, unknown>, options: object = {}) => {
    const { body, headers } = modernMessage(method, params, options);
    return send(body, headers);
  };
  const older = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
  const legacy = (method: string, params: object, accept = older.accept) =>
    send({ jsonrpc: '2.0', id: 'q', method, params }, { ...older, accept });
  const resume = (lastId: string) =>
    send(undefined, { ...older, accept: 'text/event-stream', 'last-event-id': lastId });

  const made = await modern('tools/call', { name: 'optional' });
  const taskId: string = made.last?.result.taskId;
  return {
    ...{ taskId, modern, legacy, resume, seen, opened, held, server: fake.server, records: fake.records },
    elapsed: () => now - START,
  };
}

type Setup = Awaited<ReturnType<typeof setup>>;
type Waits = (setup: Setup) => Promise<Awaited<ReturnType<Setup['modern']>>>;

const listen: Waits = ({ modern, taskId }) => modern('subscriptions/listen', { notifications: { taskIds: [taskId] } });
const call: Waits = ({ modern }) => modern('tools/call', { name: 'optional' }, PLAIN);
const streamed: Waits = ({ modern }) =>
  modern('tools/call', { name: 'optional', _meta: { progressToken: 'p' } }, PLAIN);
const helper: Waits = ({ modern, taskId }) => modern('tools/call', { name: 'get_task_result', arguments: { taskId } });
const result: Waits = ({ legacy, taskId }) => legacy('tasks/result', { taskId });
const plainResult: Waits = ({ legacy, taskId }) => legacy('tasks/result', { taskId }, 'application/json');

describe('a request that waits', () => {
  test.each<[string, Waits]>([
    ['subscriptions/listen', listen],
    ['a call without a task', call],
    ['one with progress', streamed],
    ['get_task_result', helper],
    ['tasks/result', result],
    ['tasks/result without a stream', plainResult],
  ])('%s is counted for its caller while it waits, and not any more (C-37)', async (_name, waits) => {
    const here = await setup();
    const { status, last } = await waits(here);
    expect([status, last?.error]).toEqual([200, undefined]);
    expect(here.seen.at(-1)).toBe(1);
    expect(here.held.size).toBe(0);
    expect(here.opened).toEqual([{ owner: 'ann', most: MOST, longest: 50_000 }]);
  });

  test('is not counted where its answer is there already', async () => {
    const here = await setup();
    await listen(here);
    here.opened.length = 0;
    for (const waits of [helper, result, plainResult]) expect((await waits(here)).status).toBe(200);
    expect(here.opened).toEqual([]);
  });

  test('is not counted for anonymous callers without a session, which look alike', async () => {
    const here = await setup({ caller: false, streams: MOST });
    for (const waits of [listen, call, helper]) expect((await waits(here)).last?.error).toBeUndefined();
    expect(here.opened).toEqual([]);
  });
});

describe('one stream too many', () => {
  test.each<[string, Waits]>([
    ['subscriptions/listen', listen],
    ['tasks/result without a stream', plainResult],
  ])('%s is refused with the limit and when to come back (C-37, E-29)', async (_name, waits) => {
    const here = await setup({ streams: MOST });
    const { status, headers, last } = await waits(here);
    expect([status, headers['retry-after']]).toEqual([429, '5']);
    expect(last?.error).toMatchObject({ code: -32603, data: { reason: 'TooManyStreams', limit: MOST } });
    expect(last?.error.message).toMatch(/^Too many open streams: 3 requests/);
    expect(here.elapsed()).toBeLessThan(1_000);
  });

  test.each<[string, Waits]>([
    ['a call without a task', call],
    ['one with progress', streamed],
    ['get_task_result', helper],
  ])('%s is answered at once: its task goes on, and can be asked for (C-37)', async (_name, waits) => {
    const here = await setup({ streams: MOST });
    const { status, last } = await waits(here);
    expect([status, last?.result.isError]).toEqual([200, undefined]);
    expect(last?.result.structuredContent).toMatchObject({ status: 'working', next: expect.any(String) });
    expect(here.elapsed()).toBeLessThan(1_000);
    const { taskId } = last?.result.structuredContent ?? {};
    expect(here.records.get(taskId)?.status).toBe('working');
  });

  test('tasks/result on a stream is not held: it goes on later, by its event id (C-37, C-18)', async () => {
    const here = await setup({ streams: MOST });
    const early = await result(here);
    expect([early.status, early.messages]).toEqual([200, []]);
    expect(early.raw).toMatch(/retry: 5000\ndata: \n\n$/);
    expect(here.elapsed()).toBeLessThan(1_000);
    here.held.clear();
    const { last } = await here.resume(early.lastId ?? '');
    expect(last).toMatchObject({ id: 'q', result: { structuredContent: { n: 1 } } });
  });
});
