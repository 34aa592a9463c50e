import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { callTask, resumeTask } from '../../../functions/client/index.ts';
import { instantPauses } from './instant.ts';
import { connected, cut, DONE, inTurn, Refusal, task, taskServer, throwing, turns } from './scripted.ts';

const pauses = instantPauses();
const KEY = 'mcp-task-server/idempotencyKey';

describe.each(Object.entries(connected))('%s', (name, connect) => {
  const modern = name.endsWith('2026-07-28');

  test('sends the arguments and the key of a call, and an empty object without arguments', async () => {
    const server = taskServer([['completed']]);
    const client = await connect(server);
    await callTask(client, 'tool', { a: 1 }, { idempotencyKey: 'k' });
    await callTask(client, 'tool');
    const [first, second] = server.asked.filter(({ method }) => method === 'tools/call');
    expect(first.params).toMatchObject({ name: 'tool', arguments: { a: 1 }, _meta: { [KEY]: 'k' } });
    expect(second.params).toMatchObject({ name: 'tool', arguments: {} });
    expect(second.params._meta ?? {}).not.toHaveProperty(KEY);
  });

  test('a call with a key whose answer is lost is sent again, with the same key', async () => {
    const { 'tools/call': create } = taskServer([]).handlers;
    const server = taskServer([['completed']], { 'tools/call': inTurn(throwing(cut()), create) });
    expect(await callTask(await connect(server), 'tool', {}, { idempotencyKey: 'k' })).toMatchObject(DONE);
    const calls = server.asked.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ params }) => params._meta[KEY])).toEqual(['k', 'k']);
  });

  test('a call without a key whose answer is lost is not sent again: it would be a second task', async () => {
    const server = taskServer([['completed']], { 'tools/call': throwing(cut()) });
    await expect(callTask(await connect(server), 'tool')).rejects.toThrow('terminated');
    expect(server.methods()).toEqual(['tools/call']);
  });

  test('a status whose answer is lost is asked for again after 1, 2, 4, 8 and 16 s, then no more', async () => {
    const server = taskServer([], { 'tasks/get': throwing(cut()) });
    await expect(resumeTask(await connect(server), 'T')).rejects.toThrow('terminated');
    expect(server.methods()).toEqual(Array(6).fill('tasks/get'));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  });

  test('what the server refuses is not asked again', async () => {
    const server = taskServer([], { 'tasks/get': throwing(new Refusal(-32602, 'Task not found')) });
    await expect(resumeTask(await connect(server), 'T')).rejects.toMatchObject({ code: -32602 });
    expect(server.methods()).toEqual(['tasks/get']);
  });

  test('an error of the call itself is not taken for a tool that runs without a task', async () => {
    const server = taskServer([], { 'tools/call': throwing(new Refusal(-32602, 'no such tool')) });
    await expect(callTask(await connect(server), 'tool')).rejects.toMatchObject({ code: -32602 });
    expect(server.methods()).toEqual(['tools/call']);
  });

  test('an aborted signal sends nothing', async () => {
    const server = taskServer([['completed']]);
    const client = await connect(server);
    const signal = AbortSignal.abort(new Error('never mind'));
    await expect(callTask(client, 'tool', {}, { signal })).rejects.toThrow('never mind');
    expect(server.methods()).toEqual([]);
  });

  test('the task is asked for only after onTask, whose failure ends the call, not the task', async () => {
    // So long that no poll of the package comes before the end of onTask.
    const made = name.endsWith('2026-07-28')
      ? task.modern('working', { resultType: 'task', pollIntervalMs: 600_000 })
      : { task: task.legacy('working', { pollInterval: 600_000 }) };
    const server = taskServer([['completed']], { 'tools/call': () => made });
    const onTask = async () => {
      await turns();
      expect(server.methods()).toEqual(['tools/call']);
      throw new Error('disk full');
    };
    await expect(callTask(await connect(server), 'tool', {}, { onTask })).rejects.toThrow('disk full');
    await turns();
    expect(server.methods()).toEqual(['tools/call']);
  });

  test('hears of each change once, with its message if it has one', async () => {
    const step = { statusMessage: 'step 1' };
    const server = taskServer([['working'], ['working', step], ['working', step], ['working', {}], ['completed']]);
    const heard: unknown[] = [];
    await resumeTask(await connect(server), 'T', { onProgress: (progress) => void heard.push(progress) });
    expect(heard).toStrictEqual([
      { taskId: 'T', status: 'working' },
      { taskId: 'T', status: 'working', message: 'step 1' },
      { taskId: 'T', status: 'working' },
      { taskId: 'T', status: 'completed' },
    ]);
  });

  test('an abort cancels the task once and keeps its reason, however the cancel ends', async () => {
    const stop = new AbortController();
    const answer = throwing(new Refusal(-32603, 'no'));
    const server = taskServer([['working']], { 'tasks/cancel': answer });
    const call = resumeTask(await connect(server), 'T', {
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('enough')),
    });
    await expect(call).rejects.toThrow('enough');
    expect(server.methods().filter((method) => method === 'tasks/cancel')).toHaveLength(1);
    expect(server.asked.at(-1).params).toMatchObject({ taskId: 'T' });
    const { length } = server.asked;
    await turns();
    expect(server.asked).toHaveLength(length);
  });

  test('an abort ends the wait for the first answer, and cancels the task', async () => {
    const stop = new AbortController();
    const server = taskServer([], { 'tasks/get': () => new Promise(() => {}) });
    const call = resumeTask(await connect(server), 'T', { signal: stop.signal });
    await expect.poll(() => server.methods()).toEqual(['tasks/get']);
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(server.methods()).toEqual(['tasks/get', 'tasks/cancel']);
    expect(server.asked.at(-1).params).toMatchObject({ taskId: 'T' });
  });

  test('two calls at once get each its own result', async () => {
    const ends = { T: Promise.withResolvers<void>(), U: Promise.withResolvers<void>() };
    const result = (taskId: string) => ({ content: [{ type: 'text', text: taskId }] });
    const server = taskServer([], {
      async 'tasks/get'({ taskId }: { taskId: 'T' | 'U' }) {
        await ends[taskId].promise;
        const done = { result: { resultType: 'complete', ...result(taskId) } };
        return modern ? task.modern('completed', done, taskId) : task.legacy('completed', {}, taskId);
      },
      'tasks/result': ({ taskId }) => result(taskId),
    });
    const client = await connect(server);
    const calls = (['T', 'U'] as const).map((taskId) => resumeTask(client, taskId));
    await expect.poll(() => server.methods()).toHaveLength(2);
    ends.T.resolve();
    expect(await calls[0]).toMatchObject(result('T'));
    ends.U.resolve();
    expect(await calls[1]).toMatchObject(result('U'));
  });

  test('a call that fails by itself cancels nothing', async () => {
    const stop = new AbortController();
    const server = taskServer([['working']], { 'tasks/get': throwing(new Refusal(-32603, 'broken')) });
    const { signal } = stop;
    await expect(callTask(await connect(server), 'tool', {}, { signal })).rejects.toThrow('broken');
    await turns();
    expect(server.methods()).not.toContain('tasks/cancel');
  });

  test('fails with the code and the message of a task that failed', async () => {
    const failure = new Refusal(-32603, 'The tool failed');
    const server = taskServer([['failed']], { 'tasks/result': throwing(failure) });
    const call = resumeTask(await connect(server), 'T');
    await expect(call).rejects.toMatchObject({ message: expect.stringContaining(failure.message), code: failure.code });
  });

  test('a call that has ended leaves no listener on its signal', async () => {
    const { signal } = new AbortController();
    const server = taskServer([['working'], ['completed']]);
    await callTask(await connect(server), 'tool', {}, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('a result without a task comes back as it is, and an abort ends the wait for it', async () => {
    const stop = new AbortController();
    const never = new Promise(() => {});
    const direct = (params: { task?: unknown }) => {
      if (params.task !== undefined) throw new Refusal(-32601, 'not as a task');
      return modern ? { resultType: 'complete', ...DONE } : DONE;
    };
    const server = taskServer([], { 'tools/call': direct });
    const client = await connect(server);
    const options = { signal: stop.signal, onTask: () => expect.unreachable(), onProgress: () => expect.unreachable() };
    expect(await callTask(client, 'tool', { a: 1 }, options)).toMatchObject(DONE);
    expect(server.asked.at(-1).params).toMatchObject({ name: 'tool', arguments: { a: 1 } });

    const slow = taskServer([], { 'tools/call': (params) => (params.task ? direct(params) : never) });
    const call = callTask(await connect(slow), 'tool', {}, { signal: stop.signal });
    await expect.poll(() => slow.asked.length).toBe(modern ? 1 : 2);
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });
});
