import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { questionId } from '../../../functions/mcp/stream/questions.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { ALL_KINDS, clockedServer, START as T0 } from './support/fake-server.ts';
import { exchanged, LEGACY, type Message, modernCall } from './support/posted.ts';

const SECOND = 1_000;
const key = newTaskKey({ kind: 'anonymous' }, T0);
const task = { tool: 'required', ttl: 600 * SECOND, timeout: 300 * SECOND, accepts: ALL_KINDS, legacy: false };
const working = create(key, task, T0);
const question = {
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties: {} } },
};
const waiting: TaskRecord = {
  ...working,
  status: 'input_required',
  asked: JSON.stringify({ inputRequests: { a: question } }),
  arguments: '{}',
};
const { deadlineAt } = working;
const inputResponses = { 'r1.a': { action: 'accept', content: {} } };

/** A server that meets a task at a moment. The first write takes `writeTakes` ms. */
function setup(record: TaskRecord, now: number, writeTakes = 0) {
  const fake = clockedServer();
  const { clock } = fake;
  clock.now = now;
  fake.records.set(record);
  const { apply } = fake.server.store;
  const during: Message[] = [];
  let slow = writeTakes;
  fake.server.store.apply = async (at, change) => {
    clock.now += slow;
    if (slow > 0) during.push((await get()).result);
    slow = 0;
    return apply(at, change);
  };
  const send = async (method: string, more: object = {}): Promise<Message> =>
    (await modernCall(fake.server, method, { taskId: record.taskId, ...more })).answer;
  const get = () => send('tasks/get');
  /** What a client of 2025-11-25 answers to the question `a`. */
  const respond = async (answer: object) => {
    const id = await questionId({ principal: { kind: 'anonymous' } }, record, 'r1.a', fake.server);
    return exchanged(fake.server, { jsonrpc: '2.0', id, ...answer }, LEGACY);
  };
  return { ...fake, send, respond, get, during, stored: () => fake.records.get(record.taskId) };
}

describe('an answer', () => {
  test('after the deadline is too late: every reader sees that no answer came (row 17)', async () => {
    const { send, get, did, stored } = setup(waiting, deadlineAt + 1);
    expect((await get()).result.status).toBe('input_required');
    expect((await send('tasks/update', { inputResponses })).result.resultType).toBe('complete');
    expect(did).toEqual(['get', 'get', 'apply']);
    const told = { status: 'failed', statusMessage: 'No answer came before the deadline' };
    expect(stored()).toMatchObject({ ...told, updatedAt: deadlineAt });
    expect((await get()).result).toMatchObject(told);
  });

  test('before the deadline but written after it is too late for every reader; nothing starts', async () => {
    const { send, get, did, during, clock } = setup(waiting, deadlineAt, 3 * SECOND);
    expect((await send('tasks/update', { inputResponses })).result.resultType).toBe('complete');
    expect(during).toMatchObject([{ status: 'input_required' }]);
    const told = { status: 'failed', statusMessage: 'No answer came before the deadline' };
    expect((await get()).result).toMatchObject(told);
    expect(did).not.toContain('start');
    clock.now += limits.deadlineGrace;
    expect((await get()).result).toMatchObject(told);
  });

  test('in time starts the next round, even at the last moment', async () => {
    const { send, did, stored } = setup(waiting, deadlineAt);
    await send('tasks/update', { inputResponses });
    expect(did).toContain('start');
    expect(stored()).toMatchObject({ status: 'working', round: 2 });
  });

  test('counts with those before it: all of one task may take 140 KB', async () => {
    const before = { 'r0.x': '"é"', 'r1.b': `"${'é'.repeat(limits.answers / 2 - 100)}"` };
    const record = { ...waiting, inputResponses: before };
    const answer = (text: string) => ({ inputResponses: { 'r1.a': { action: 'accept', content: { text } } } });
    const { send, stored } = setup(record, T0);
    const sizeOf = (answers: object) => Buffer.byteLength(Object.entries(answers).flat().join(''));
    const rest = limits.answers - sizeOf({ ...before, 'r1.a': JSON.stringify(answer('').inputResponses['r1.a']) });
    const { error } = await send('tasks/update', answer('x'.repeat(rest + 1)));
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('140000 bytes together') });
    expect(stored()).toEqual(record);
    expect((await send('tasks/update', answer('x'.repeat(rest)))).result.resultType).toBe('complete');
    expect(stored()?.status).toBe('working');
  });

  test('repeated at the deadline starts nothing', async () => {
    const answered = { ...waiting, status: 'working', round: 2, inputResponses: { 'r1.a': '{"action":"accept"}' } };
    const { send, did } = setup(answered as TaskRecord, deadlineAt);
    await send('tasks/update', { inputResponses });
    expect(did).toEqual(['get']);
  });
});

describe('an answer under a key that is not open', () => {
  const logged = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const lines = () => logged.mock.calls.map(([line]) => JSON.parse(String(line)));
  afterEach(() => void logged.mockClear());
  afterAll(() => logged.mockRestore());
  const { taskId, tool } = waiting;

  test('is acknowledged; the log says which keys are open, not what the client wrote (E-18)', async () => {
    const { send, stored } = setup(waiting, T0);
    const sent = { a: inputResponses['r1.a'], 'planted?': {} };
    expect((await send('tasks/update', { inputResponses: sent })).result.resultType).toBe('complete');
    expect(stored()).toEqual(waiting);
    const said = { event: 'answer_ignored', taskId, tool, status: 'input_required', ignored: 2, openKeys: ['r1.a'] };
    expect(lines()).toEqual([said]);
  });

  test('and one that is open: nothing of it is in the log', async () => {
    const { send } = setup(waiting, T0);
    await send('tasks/update', { inputResponses });
    expect(lines()).toEqual([]);
  });

  test('posted in 2025-11-25, when another has answered: acknowledged, and logged (B-19)', async () => {
    const here = setup({ ...working, status: 'completed', result: '5' }, T0);
    expect((await here.respond({ result: { action: 'accept', content: {} } })).status).toBe(202);
    expect(lines()).toMatchObject([{ status: 'completed', ignored: 1, openKeys: [] }]);
  });
});

describe('a refusal of a question of 2025-11-25', () => {
  const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
  const record = { ...waiting, asked: JSON.stringify({ inputRequests: { a: sampling } }) };
  const refusedAt = async (now: number) => {
    const here = setup(record, now, 10 * SECOND);
    expect((await here.respond({ error: { code: -1, message: 'no' } })).status).toBe(202);
    return { during: here.during[0], after: (await here.get()).result };
  };

  test('ends the task', async () => {
    const { during, after } = await refusedAt(deadlineAt);
    expect(during).toMatchObject({ status: 'input_required' });
    expect(after).toMatchObject({ status: 'failed', statusMessage: 'The client refused sampling/createMessage' });
  });

  test('after the deadline is none: what readers saw while it was written stays true', async () => {
    const { during, after } = await refusedAt(deadlineAt + limits.deadlineGrace - SECOND);
    expect(during).toMatchObject({ status: 'failed', statusMessage: 'No answer came before the deadline' });
    expect({ ...after, pollIntervalMs: 0 }).toEqual({ ...during, pollIntervalMs: 0 });
  });
});

describe('a cancel', () => {
  const late = deadlineAt + limits.lateWrite;

  test('soon after the deadline of a task that works is one', async () => {
    const { send, get, did } = setup(working, late);
    await send('tasks/cancel');
    expect((await get()).result.status).toBe('cancelled');
    expect(did).toContain('stop');
  });

  test('however slow, is written before readers see that the task failed', async () => {
    const { send, get, during } = setup(working, late, limits.deadlineGrace - limits.lateWrite);
    await send('tasks/cancel');
    expect(during).toMatchObject([{ status: 'working' }]);
    expect((await get()).result.status).toBe('cancelled');
  });

  test('later than that loses to the deadline: every reader sees failed, and the run is stopped', async () => {
    const { send, get, did, stored, clock } = setup(working, late + 1);
    expect((await send('tasks/cancel')).result.resultType).toBe('complete');
    const told = { status: 'failed', statusMessage: 'The tool did not finish in time' };
    expect((await get()).result).toMatchObject(told);
    expect(did).toContain('stop');
    expect(stored()).toMatchObject({ ...told, updatedAt: deadlineAt + limits.deadlineGrace });
    clock.now += limits.deadlineGrace;
    expect((await get()).result).toMatchObject(told);
  });

  test('of a question holds until the deadline, however slow; later the question is unanswered', async () => {
    const before = setup(waiting, deadlineAt, limits.deadlineGrace);
    await before.send('tasks/cancel');
    expect(before.during).toMatchObject([{ status: 'input_required' }]);
    expect((await before.get()).result.status).toBe('cancelled');
    const { send, get } = setup(waiting, deadlineAt + 1);
    await send('tasks/cancel');
    const told = { status: 'failed', statusMessage: 'No answer came before the deadline' };
    expect((await get()).result).toMatchObject(told);
  });
});
