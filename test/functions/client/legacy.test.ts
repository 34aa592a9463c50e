import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test, vi } from 'vitest';
import { callTask, resumeTask, type TaskOptions } from '../../../functions/client/index.ts';
import { instantPauses } from './instant.ts';
import { cut, DONE, inTurn, OLD, Refusal, task, taskServer, throwing, turns } from './scripted.ts';

const pauses = instantPauses();
const never = () => new Promise(() => {});
const later = () => Promise.withResolvers<object>();

test('polls after the interval of the task, and each second if it names none', async () => {
  const server = taskServer([
    ['working', { pollInterval: 70 }],
    ['working', { pollInterval: undefined }],
    ['completed'],
  ]);
  await resumeTask(await OLD(server), 'T');
  expect(pauses).toEqual([70, 1_000]);
});

test('polls neither in a loop nor never, whatever interval the server names', async () => {
  const server = taskServer([
    ['working', { pollInterval: 0 }],
    ['working', { pollInterval: -5 }],
    ['working', { pollInterval: 3e9 }],
    ['working', { pollInterval: 'soon' }],
    ['completed'],
  ]);
  await resumeTask(await OLD(server), 'T');
  expect(pauses).toEqual([50, 50, 3_600_000, 1_000]);
});

test('asks for the result when the task has ended, not before', async () => {
  const server = taskServer([['working'], ['working'], ['cancelled']], {
    'tasks/result': throwing(new Refusal(-32603, 'cancelled')),
  });
  await expect(resumeTask(await OLD(server), 'T')).rejects.toThrow('cancelled');
  expect(server.methods()).toEqual(['tasks/get', 'tasks/get', 'tasks/get', 'tasks/result']);
  expect(server.asked.map(({ params }) => params.taskId)).toEqual(['T', 'T', 'T', 'T']);
});

test('a result that is lost after the end of the task is asked for again', async () => {
  const server = taskServer([['completed']], { 'tasks/result': inTurn(throwing(cut()), () => DONE) });
  expect(await resumeTask(await OLD(server), 'T')).toMatchObject(DONE);
  expect(server.methods()).toEqual(['tasks/get', 'tasks/result', 'tasks/result']);
});

test('a stream that never ends does not hide the end of the task', async () => {
  const server = taskServer([['input_required'], ['completed']], { 'tasks/result': inTurn(never, () => DONE) });
  expect(await resumeTask(await OLD(server), 'T')).toMatchObject(DONE);
});

test('a stream that ends before the task is opened again, after the poll interval', async () => {
  const result = inTurn(throwing(cut()), throwing(new Refusal(-32603, 'Too many open streams')), () => DONE);
  const server = taskServer([['input_required', { pollInterval: 70 }]], { 'tasks/result': result });
  expect(await resumeTask(await OLD(server), 'T')).toMatchObject(DONE);
  expect(pauses.slice(0, 2)).toEqual([70, 70]);
});

/** A task that asks, and whose tasks/result brings nothing. @param asks what happens when one arrives */
function silentStream(asks: () => void = () => {}) {
  const statuses = Array.from({ length: 30 }, () => ['input_required', { pollInterval: 5_000 }] as const);
  const silent = () => {
    asks();
    return never();
  };
  const server = taskServer([...statuses, ['completed']], { 'tasks/result': silent });
  const results = () => server.methods().filter((method) => method === 'tasks/result').length;
  return {
    server,
    results,
    polled: () => server.methods().length > 30,
    lose: () => server.onerror?.(new Error('lost')),
  };
}
const onQuestion = () => ({ action: 'decline' }) as const;

test('a stream whose connection is lost is followed by another, after 10, 20 and 40 s', async () => {
  const { server, results, lose } = silentStream();
  const opened: number[] = [];
  void resumeTask(await OLD(server), 'T', { onQuestion });
  for (let before = 0; before < 4; before = results()) {
    await turns(1);
    if (results() === before) continue;
    opened.push(pauses.reduce((sum, ms) => sum + ms, 0));
    lose();
  }
  expect(opened.map((at) => at - (opened[0] ?? 0))).toEqual([0, 10_000, 30_000, 70_000]);
});

test('no other stream follows without a loss, during an answer, or beside an own handler', async () => {
  const open = silentStream();
  void resumeTask(await OLD(open.server), 'T', { onQuestion });
  const own = silentStream(() => own.lose());
  const client = await OLD(own.server);
  client.setRequestHandler(ElicitRequestSchema, () => never() as never);
  void resumeTask(client, 'T', { onQuestion });
  const asking = silentStream(() => {
    const _meta = { 'io.modelcontextprotocol/related-task': { taskId: 'T' } };
    const params = { message: 'Ok?', _meta };
    asking.server.onmessage?.({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params });
    asking.lose();
  });
  const asked = vi.fn(() => never() as never);
  void resumeTask(await OLD(asking.server), 'T', { onQuestion: asked });
  const all = [open, own, asking];
  await expect.poll(() => all.map((one) => one.polled())).toEqual([true, true, true]);
  await turns();
  // The last one is for the task that has ended.
  expect([...all.map((one) => one.results()), asked.mock.calls.length]).toEqual([2, 2, 2, 1]);
});

test('a call that failed leaves later questions of its task open: an error would be an answer', async () => {
  const server = taskServer([['input_required']], { 'tasks/result': never });
  const failing = () => {
    throw new Error('not now');
  };
  const asks = (id: string, taskId: string) => {
    const params = { message: 'Ok?', _meta: { 'io.modelcontextprotocol/related-task': { taskId } } };
    server.onmessage?.({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
  };
  const client = await OLD(server);
  const call = resumeTask(client, 'T', { onQuestion: failing });
  await expect.poll(() => server.methods()).toContain('tasks/result');
  asks('first', 'T');
  await expect(call).rejects.toThrow('not now');
  asks('second', 'T');
  asks('other', 'unknown');
  await turns();
  expect(server.answers.flatMap(({ id }) => id ?? [])).toEqual(['other']);
  const again = resumeTask(client, 'T', { onQuestion });
  // A further call that fails does not take the questions of this one.
  const further = resumeTask(client, 'T', { onQuestion: failing, signal: AbortSignal.abort(new Error('too late')) });
  await expect(further).rejects.toThrow('too late');
  await turns();
  asks('third', 'T');
  await expect.poll(() => server.answers.at(-1)).toMatchObject({ id: 'third', result: { action: 'decline' } });
  await client.close();
  await expect(again).rejects.toThrow();
});

test('a question at which one call fails goes to the other call of its task', async () => {
  const server = taskServer([['input_required']], { 'tasks/result': never });
  const client = await OLD(server);
  const asked = vi.fn(onQuestion);
  const first = resumeTask(client, 'T', { onQuestion: asked });
  await expect.poll(() => server.methods()).toContain('tasks/result');
  const second = resumeTask(client, 'T');
  const failed = expect(second).rejects.toThrow('pass onQuestion');
  await turns();
  const params = { message: 'Ok?', _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'T' } } };
  server.onmessage?.({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params });
  await failed;
  await turns();
  expect(server.answers.at(-1)).toMatchObject({ id: 'q', result: { action: 'decline' } });
  expect(asked).toHaveBeenCalledOnce();
  await client.close();
  await expect(first).rejects.toThrow();
});

const refused = () => new Error('pass onQuestion');
test.each<[string, TaskOptions['onQuestion']]>([
  ['without onQuestion', undefined],
  [
    'that throw at once',
    () => {
      throw refused();
    },
  ],
  ['that throw later', () => Promise.reject(refused())],
])('a question at which two calls fail goes to the third, or stays open: calls %s', async (_, failing) => {
  const server = taskServer([['input_required']], { 'tasks/result': never });
  const client = await OLD(server);
  const asks = (id: string) => {
    const params = { message: 'Ok?', _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'T' } } };
    server.onmessage?.({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
  };
  const fails = (...wanted: (TaskOptions['onQuestion'] | undefined)[]) =>
    wanted.map((one) => expect(resumeTask(client, 'T', one && { onQuestion: one })).rejects.toThrow('pass onQuestion'));
  const two = fails(failing, failing);
  await expect.poll(() => server.methods()).toContain('tasks/result');
  asks('open');
  await Promise.all(two);
  await turns();
  expect(server.answers.filter(({ id }) => id === 'open')).toEqual([]);
  const willing = resumeTask(client, 'T', { onQuestion });
  const others = fails(failing, failing);
  await turns();
  asks('q');
  await Promise.all(others);
  await expect.poll(() => server.answers.at(-1)).toMatchObject({ id: 'q', result: { action: 'decline' } });
  await client.close();
  await expect(willing).rejects.toThrow();
});

test('a task that is created after the abort is cancelled, too', async () => {
  const stop = new AbortController();
  const created = later();
  const server = taskServer([], { 'tools/call': () => created.promise });
  const onTask = vi.fn();
  const call = callTask(await OLD(server), 'tool', {}, { signal: stop.signal, onTask });
  await expect.poll(() => server.methods()).toEqual(['tools/call']);
  stop.abort(new Error('too late'));
  await expect(call).rejects.toThrow('too late');
  created.resolve({ task: task.legacy('working', {}, 'late') });
  await expect.poll(() => server.methods()).toEqual(['tools/call', 'tasks/cancel']);
  expect(server.asked.at(-1).params).toEqual({ taskId: 'late' });
  expect(onTask).not.toHaveBeenCalled();
});

test.each([-32601, -32603])('a call that is refused after the abort (%d) cancels nothing', async (code) => {
  const stop = new AbortController();
  const created = later();
  const server = taskServer([], { 'tools/call': () => created.promise });
  const call = callTask(await OLD(server), 'tool', {}, { signal: stop.signal });
  await expect.poll(() => server.methods()).toEqual(['tools/call']);
  stop.abort(new Error('too late'));
  await expect(call).rejects.toThrow('too late');
  created.reject(new Refusal(code, 'no'));
  await turns();
  expect(server.methods()).toEqual(['tools/call']);
});

test('a call with a key that is aborted while its answer is lost is not sent again', async () => {
  const stop = new AbortController();
  const lost = () => {
    stop.abort(new Error('enough'));
    throw cut();
  };
  const server = taskServer([], { 'tools/call': lost });
  const options = { signal: stop.signal, idempotencyKey: 'k' };
  await expect(callTask(await OLD(server), 'tool', {}, options)).rejects.toThrow('enough');
  await turns();
  expect(server.methods()).toEqual(['tools/call']);
});

test('an abort cancels the task, also if the first cancels are lost or meet a busy server', async () => {
  const stop = new AbortController();
  const busy = Object.assign(new Error('busy'), { code: 429 });
  const cancels = inTurn(throwing(cut()), throwing(busy), () => task.legacy('cancelled'));
  const server = taskServer([['working']], { 'tasks/cancel': cancels });
  const call = resumeTask(await OLD(server), 'T', { signal: stop.signal });
  await expect.poll(() => server.methods()).toContain('tasks/get');
  stop.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  const sent = (wanted: string) => server.methods().filter((method) => method === wanted).length;
  // The call does not wait for the last try.
  expect(sent('tasks/cancel')).toBeLessThan(3);
  const polls = sent('tasks/get');
  await expect.poll(() => sent('tasks/cancel')).toBe(3);
  expect(sent('tasks/get')).toBe(polls);
});

test('a status that comes after an abort is no progress', async () => {
  const stop = new AbortController();
  const answer = later();
  const server = taskServer([], { 'tasks/get': () => answer.promise });
  const onProgress = vi.fn();
  const call = resumeTask(await OLD(server), 'T', { signal: stop.signal, onProgress });
  await expect.poll(() => server.methods()).toEqual(['tasks/get']);
  stop.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  answer.resolve(task.legacy('completed'));
  await turns();
  expect(server.methods()).toEqual(['tasks/get', 'tasks/cancel']);
  expect(onProgress).not.toHaveBeenCalled();
});

test('a call may wait for its answer for 24 days, not for the minute of the clients', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const server = taskServer([['completed']], { 'tools/call': () => new Promise(() => {}) });
  let ended = false;
  const call = callTask(await OLD(server), 'tool').finally(() => {
    ended = true;
  });
  call.catch(() => {});
  await vi.waitUntil(() => server.asked.length > 0);
  await vi.advanceTimersByTimeAsync(24 * 86_400_000);
  vi.useRealTimers();
  await turns();
  expect(ended).toBe(false);
});
