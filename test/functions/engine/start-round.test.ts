import { beforeEach, describe, expect, test, vi } from 'vitest';
import { startNext } from '../../../functions/engine/start-round.ts';
import type { ServerContext, Tool } from '../../../functions/mcp/context.ts';
import { answerTask } from '../../../functions/mcp/methods/tasks-update.ts';
import { failure } from '../../../functions/tasks/failures.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { answer } from '../../../functions/tasks/transitions/answers.ts';
import { create } from '../../../functions/tasks/transitions/begin.ts';
import { cancel, failAsSeen } from '../../../functions/tasks/transitions/end.ts';
import { TASKS } from '../../support/clients.ts';
import { ALL_KINDS, clockedServer, fakeServer, START as T0 } from '../mcp/support/fake-server.ts';
import { modernCall } from '../mcp/support/posted.ts';
import { applied } from '../tasks/applied.ts';

const SECOND = 1_000;
const key = newTaskKey({ kind: 'anonymous' }, T0);
const task = { tool: 'required', ttl: 600 * SECOND, timeout: 300 * SECOND, accepts: ALL_KINDS, legacy: false };
const made = create(key, task, T0);
const end = made.deadlineAt + 30 * SECOND;
/** Answered at T0, in a call that may have died since. */
const answered: TaskRecord = {
  ...made,
  round: 2,
  asked: '{"inputRequests":{},"requestState":7}',
  arguments: '{"n":1}',
  inputResponses: { 'r1.a': '"yes"' },
};

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

test('a cancel between the last answer and its start stops the run once it exists (C-25)', async () => {
  const { server, did, records } = fakeServer({
    workflow: {
      async start() {
        records.set({ ...answered, status: 'cancelled' });
      },
      async stop() {
        did.push('stop');
      },
    },
  });
  records.set(answered);
  await startNext({ ...answered, tool: 'required' }, server);
  expect(did.filter((what) => what === 'stop')).toHaveLength(1);
});

test('a round whose tool is gone cannot be started, which the client learns', async () => {
  const { server, records } = fakeServer();
  const gone = { ...answered, tool: 'gone' };
  expect(await startNext(gone, server)).toBe('gone');
  records.set(gone);
  const answering = answerTask({ kind: 'anonymous' }, gone.taskId, {}, 'refuse', server);
  await expect(answering).rejects.toThrow('The tool of this task is gone');
});

test.each([
  ['without', {}],
  ['with', { digest: 'd' }],
])('a later round whose name is taken is left to the sweep, %s a key (row 6)', async (_how, key) => {
  const { server, records } = fakeServer({ workflow: { start: async () => 'taken', stop: async () => {} } });
  const record = { ...answered, ...key };
  records.set(record);
  expect(await startNext(record, server)).toBe('taken');
  expect(records.get(record.taskId)).toEqual(record);
});

test('an error of a start that is not about its input stays what it is', async () => {
  const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
  const { server } = fakeServer({ workflow: { start: () => Promise.reject(denied), stop: async () => {} } });
  await expect(startNext(answered, server)).rejects.toBe(denied);
});

function serverWith(record: TaskRecord, now: number, over: Partial<ServerContext> = {}) {
  const inputs: string[] = [];
  const fake = clockedServer({
    workflow: {
      start: async (_record, input) => {
        inputs.push(input);
      },
      stop: async () => {
        fake.did.push('stop');
      },
    },
    ...over,
  });
  fake.clock.now = now;
  fake.records.set(record);
  const send = async (method: string, params: object = {}) =>
    (await modernCall(fake.server, method, { taskId: record.taskId, ...params }, { capabilities: TASKS })).raw;
  return { ...fake, inputs, send };
}

describe('a poll of a task that was answered 15 seconds ago and not heard of since (row 16)', () => {
  const now = T0 + 15 * SECOND;

  test('starts its round again, with its answers, and notes that; later polls do nothing', async () => {
    const { send, inputs, did, records } = serverWith(answered, now);
    expect(await send('tasks/get')).toContain('"status":"working"');
    expect(did).toEqual(['get', 'applyBlind']);
    expect(inputs).toHaveLength(1);
    expect(JSON.parse(inputs[0] ?? '')).toMatchObject({
      ...key,
      round: 2,
      arguments: '{"n":1}',
      inputResponses: { a: 'yes' },
      requestState: 7,
    });
    expect(records.get(key.taskId)).toEqual({ ...answered, seenRound: 2, dueAt: T0 + 315 * SECOND });
    await send('tasks/get');
    expect(did).toEqual(['get', 'applyBlind', 'get']);
    expect(inputs).toHaveLength(1);
  });

  test('does so, too, right before the deadline (row 16)', async () => {
    const asking: TaskRecord = { ...made, status: 'input_required', deadlineAt: T0 + 20 * SECOND };
    const late = applied(asking, answer(asking, ['r1.a'], { 'r1.a': '"yes"' }, T0)) ?? asking;
    const { send, inputs, did } = serverWith({ ...answered, ...late }, now);
    await send('tasks/get');
    expect(inputs).toHaveLength(1);
    await send('tasks/get');
    expect(did).toEqual(['get', 'applyBlind', 'get']);
  });

  test('starts nothing after the deadline, though readers do not see it fail yet (row 16)', async () => {
    const { deadlineAt } = made;
    const { send, inputs } = serverWith(answered, deadlineAt);
    expect(JSON.parse(await send('tasks/get')).result).toMatchObject({ status: 'working' });
    expect(inputs).toEqual([]);
  });

  test('leaves it to the sweep if its run has ended unseen', async () => {
    const { send, records } = serverWith(answered, now, {
      workflow: { start: async () => 'taken', stop: async () => {} },
    });
    expect(await send('tasks/get')).toContain('"status":"working"');
    expect(records.get(key.taskId)).toEqual(answered);
  });

  test('does so, too, where a stream waits for it, once', async () => {
    const taskIds = [key.taskId];
    const { send, inputs } = serverWith(answered, now);
    expect(await send('subscriptions/listen', { notifications: { taskIds } })).toContain('"status":"working"');
    expect(inputs).toHaveLength(1);
  });

  test('still shows a task that cannot be started, and leaves it to the sweep', async () => {
    const start = async () => {
      throw Object.assign(new Error('arn:aws:states:secret'), { name: 'ThrottlingException' });
    };
    const { send, records } = serverWith(answered, now, { workflow: { start, stop: async () => {} } });
    const text = await send('tasks/get');
    expect(text).toContain('"status":"working"');
    expect(text).not.toContain('secret');
    expect(records.get(key.taskId)).toEqual(answered);
    expect(vi.mocked(console.error).mock.calls).toEqual([
      ['{"event":"restart_failed","tool":"required","error":"ThrottlingException"}'],
    ]);
  });

  test('shows it where its tool is gone', async () => {
    const { send, inputs, records } = serverWith({ ...answered, tool: 'gone' }, now);
    expect(await send('tasks/get')).toContain('"status":"working"');
    expect(inputs).toEqual([]);
    expect(records.get(key.taskId)?.dueAt).toBe(answered.dueAt);
  });

  test('stops what it started if a cancel came in between, and found no run to stop (row 14)', async () => {
    const stopped: number[] = [];
    const fake = serverWith(answered, now, {
      workflow: {
        start: async () => void fake.records.set({ ...answered, status: 'cancelled' }),
        stop: async ({ round }) => void stopped.push(round),
      },
    });
    await fake.send('tasks/get');
    expect(stopped).toEqual([2]);
    expect(fake.records.get(key.taskId)?.status).toBe('cancelled');
  });

  test('a cancel does not start what it is about to stop', async () => {
    const { send, inputs, records, did } = serverWith(answered, now);
    await send('tasks/cancel');
    expect(inputs).toEqual([]);
    expect(records.get(key.taskId)?.status).toBe('cancelled');
    expect(did.slice(-2)).toEqual(['stop', 'applyBlind']);
  });
});

test.each<[string, TaskRecord, number]>([
  ['answered a moment ago', answered, T0 + 15 * SECOND - 1],
  ['heard of a moment ago', { ...answered, updatedAt: T0 + 10 * SECOND }, T0 + 20 * SECOND],
  ['known to run', { ...answered, seenRound: 2 }, T0 + 20 * SECOND],
  ['in its first round', { ...made, arguments: '{}' }, T0 + 20 * SECOND],
  ['over', { ...answered, status: 'completed', result: '1' }, T0 + 20 * SECOND],
  ['past its deadline', answered, end + 1],
])('a poll of a task that is %s is one read and nothing else', async (_title, record, now) => {
  const { send, inputs, did } = serverWith(record, now);
  await send('tasks/get');
  expect(did).toEqual(['get']);
  expect(inputs).toEqual([]);
});

describe('a first round', () => {
  const call = async (ms: number, timeout = 60 * SECOND) => {
    const fake = fakeServer();
    const { entry, ...tool } = fake.server.tools.get('required') as Tool;
    const tools = new Map([['required', { ...tool, entry: { ...entry, timeout } }]]);
    const { create: put } = fake.server.store;
    const clock = { now: T0 };
    const store: ServerContext['store'] = {
      ...fake.server.store,
      async create(record) {
        clock.now += ms;
        return put(record);
      },
    };
    const server = { ...fake.server, tools, store, now: () => clock.now };
    const { raw } = await modernCall(server, 'tools/call', { name: 'required' }, { capabilities: TASKS });
    return { did: fake.did, text: raw };
  };

  test.each([
    ['by its key', 'k'.repeat(32), 0, true],
    ['after it was found in a list', undefined, 300, true],
    ['too soon to be found: no read is wasted', undefined, 5, false],
  ])(
    'that was cancelled before its run began, %s: the run is stopped (C-25, row 14)',
    async (_title, idempotencyKey, ms, isStopped) => {
      const clock = { now: T0 };
      const down = { now: false };
      const fake = fakeServer({
        now: () => clock.now,
        workflow: {
          async start(record) {
            clock.now += ms;
            await fake.server.store.apply(record, cancel(clock.now));
            down.now = true;
          },
          async stop({ round }) {
            fake.did.push(`stop ${round}`);
          },
        },
      });
      const { get } = fake.server.store;
      const headers = { 'idempotency-key': idempotencyKey };
      const send = async () =>
        (await modernCall(fake.server, 'tools/call', { name: 'required' }, { capabilities: TASKS, headers })).raw;
      expect(await send()).toContain('"status":"working"');
      expect(fake.did.at(-1)).toBe(isStopped ? 'stop 1' : 'apply');
      // A failed check after the start does not hide the task from its client.
      fake.server.store.get = (at) => (down.now ? Promise.reject(new Error('throttled')) : get(at));
      down.now = false;
      fake.records.clear();
      expect(await send()).toContain('"status":"working"');
    },
  );

  test('that a sweep failed for want of a run while it was starting is stopped (row 4)', async () => {
    const clock = { now: T0 };
    const fake = fakeServer({
      now: () => clock.now,
      workflow: {
        async start(record) {
          clock.now += 60 * SECOND;
          await fake.server.store.apply(record, failAsSeen(record, failure('NotStarted'), clock.now));
        },
        stop: async ({ round }) => void fake.did.push(`stop ${round}`),
      },
    });
    await modernCall(fake.server, 'tools/call', { name: 'required' }, { capabilities: TASKS });
    expect(fake.did.at(-1)).toBe('stop 1');
  });

  test('starts within 35 s of its creation, or is left to the sweep, which may fail it (row 4)', async () => {
    expect((await call(35 * SECOND)).did.slice(0, 2)).toEqual(['create', 'start']);
    const late = await call(35 * SECOND + 1);
    expect(late.did).toEqual(['create']);
    expect(late.text).toContain('"status":"working"');
  });

  test('is not started after its deadline: its result would be too late (row 4)', async () => {
    expect((await call(5 * SECOND - 1, 5 * SECOND)).did.slice(0, 2)).toEqual(['create', 'start']);
    const late = await call(5 * SECOND, 5 * SECOND);
    expect(late.did).toEqual(['create']);
    expect(late.text).toContain('"status":"working"');
  });
});
