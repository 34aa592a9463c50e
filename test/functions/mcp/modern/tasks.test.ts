import { describe, expect, test } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { FORMS, type ModernOptions, TASKS } from '../../../support/clients.ts';
import { clockedServer } from '../support/fake-server.ts';
import { legacyCall, modernCall } from '../support/posted.ts';

const NOT_FOUND = { code: -32602, message: 'Task not found' };
const NOT_DECLARED = { code: -32021, data: { requiredCapabilities: TASKS } };
const ALL = { ...TASKS, elicitation: { form: {}, url: {} } };
const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const form = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema } };
const asked = JSON.stringify({ inputRequests: { sure: form, login: form }, requestState: { secret: 1 } });

/** Clients of both eras, and a clock that runs while the server sleeps. */
function clients(over: Parameters<typeof clockedServer>[0] = {}) {
  const fake = clockedServer(over);
  const modern = (method: string, params: Record<string, unknown> = {}, options: ModernOptions = {}) =>
    modernCall(fake.server, method, params, options);
  return {
    ...fake,
    modern,
    legacy: (method: string, params: object = {}, session?: string) => legacyCall(fake.server, method, params, session),
    /** A new task, with what `change` makes of its record. */
    async made(change: Partial<TaskRecord> = {}, capabilities: object = ALL): Promise<string> {
      const { result } = await modern('tools/call', { name: 'required' }, { capabilities });
      const record = fake.records.get(result.taskId);
      if (record !== undefined) fake.records.set({ ...record, ...change });
      return result.taskId;
    },
  };
}

describe('tasks/get', () => {
  test('shows what is still outstanding to every request, and only that (E-11, E-32)', async () => {
    const { modern, made } = clients();
    const inputResponses = { 'r1.sure': '{"action":"decline"}' };
    const taskId = await made({ status: 'input_required', asked, inputResponses });
    const { result } = await modern('tasks/get', { taskId }, { capabilities: TASKS });
    expect(result.inputRequests).toEqual({ 'r1.login': form });
  });
});

describe('the life of a task (E-28)', () => {
  test('a call that waits for one that is gone learns that it is (E-28)', async () => {
    const { modern, records, clock } = clients();
    const { taskId, requestState } = await waitingCall({ modern, records });
    const record = records.get(taskId);
    if (record !== undefined) records.set({ ...record, ttl: 5_000 });
    clock.now += 5_000;
    const retry = { name: 'optional', requestState, inputResponses: {} };
    expect((await modern('tools/call', retry, { capabilities: FORMS })).error).toEqual(NOT_FOUND);
  });
});

test('the state of an older round leads to the current questions, its answers lapse (D-23, E-20)', async () => {
  const { modern, records, did } = clients();
  const { taskId, requestState } = await waitingCall({ modern, records });
  const record = records.get(taskId);
  if (record !== undefined) records.set({ ...record, round: 2 });
  did.length = 0;
  const inputResponses = { 'r1.sure': { action: 'accept', content: { ok: true } }, 'r1.login': { action: 'decline' } };
  const retry = { name: 'optional', requestState, inputResponses };
  const { result } = await modern('tools/call', retry, { capabilities: FORMS });
  expect(Object.keys(result.inputRequests)).toEqual(['r2.sure', 'r2.login']);
  expect(result.requestState).not.toBe(requestState);
  expect(did).not.toContain('apply');
});

/** A call without a task whose tool has asked: its state, and the task behind it. */
async function waitingCall({ modern, records }: Pick<ReturnType<typeof clients>, 'modern' | 'records'>) {
  const before = new Set(records.ids());
  const pending = modern('tools/call', { name: 'optional' }, { capabilities: FORMS });
  for (let turns = 0; records.ids().length === before.size && turns < 100; turns++) await Promise.resolve();
  const record = records.all().find(({ taskId }) => !before.has(taskId));
  if (record === undefined) throw new Error('No task was made');
  records.set({ ...record, status: 'input_required', asked, arguments: '{}' });
  const { result } = await pending;
  expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { 'r1.sure': form } });
  return { taskId: record.taskId, requestState: String(result.requestState) };
}

describe('nothing counts but the request itself', () => {
  test('what one request declares is not declared by the next (D-02, E-02, E-16)', async () => {
    const { modern, made, did } = clients();
    const taskId = await made();
    did.length = 0;
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      for (const capabilities of [{}, FORMS, { extensions: {} }, { experimental: TASKS.extensions }]) {
        const reply = await modern(method, { taskId, inputResponses: {} }, { capabilities });
        expect(reply).toMatchObject({ status: 400, error: NOT_DECLARED });
      }
    }
    expect(did).toEqual([]);
    expect((await modern('tasks/get', { taskId })).result.status).toBe('working');
  });

  test('a waiting call is not asked again for what its retry does not declare (D-02, D-22)', async () => {
    const { modern, records } = clients();
    const { requestState } = await waitingCall({ modern, records });
    const retry = { name: 'optional', requestState, inputResponses: {} };
    const { error } = await modern('tools/call', retry, { capabilities: {} });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
  });

  test('of the session id, too: it is not asked for, not answered, no 404 (D-02, D-32)', async () => {
    const { modern, legacy, made } = clients();
    const first = await legacy('initialize', { protocolVersion: '2025-11-25', capabilities: TASKS });
    const session = String(first.headers['mcp-session-id']);
    const taskId = await made();
    for (const id of [session, 'forged']) {
      const headers = { 'mcp-session-id': id };
      expect((await modern('tasks/get', { taskId }, { headers })).result.status).toBe('working');
      expect(await modern('tasks/get', { taskId }, { headers, capabilities: {} })).toMatchObject({
        error: NOT_DECLARED,
      });
    }
  });
});

describe('two eras, one task', () => {
  async function legacyTask(legacy: ReturnType<typeof clients>['legacy'], session?: string): Promise<string> {
    return (await legacy('tools/call', { name: 'optional', task: {} }, session)).result.task.taskId;
  }

  test('in 2025-11-25 the extension enables nothing (F-03)', async () => {
    const { legacy } = clients();
    const first = await legacy('initialize', { protocolVersion: '2025-11-25', capabilities: TASKS });
    const session = String(first.headers['mcp-session-id']);
    expect((await legacy('tools/call', { name: 'required' }, session)).error.code).toBe(-32601);
    const taskId = await legacyTask(legacy, session);
    expect((await legacy('tasks/update', { taskId, inputResponses: {} }, session)).error.code).toBe(-32601);
  });

  test('in 2026-07-28 the tasks capability of 2025-11-25 makes no task (E-03, F-03)', async () => {
    const { modern, records } = clients();
    const capabilities = { tasks: { requests: { tools: { call: {} } }, list: {}, cancel: {} } };
    expect(await modern('tools/call', { name: 'required', task: {} }, { capabilities })).toMatchObject({
      status: 400,
      error: NOT_DECLARED,
    });
    const { result } = await modern('tools/call', { name: 'optional', task: {} }, { capabilities });
    expect(result.resultType).toBe('complete');
    expect(result).not.toHaveProperty('taskId');
    expect(records.ids()).toHaveLength(1);
  });

  test('but it lets a client read and cancel its 2025-11-25 tasks, in extension shapes (F-04)', async () => {
    const { modern, legacy, made } = clients();
    const options = { capabilities: { tasks: {} } };
    const older = await legacyTask(legacy);
    expect((await modern('tasks/get', { taskId: older }, options)).result).toMatchObject({
      resultType: 'complete',
      status: 'working',
      ttlMs: 3_600_000,
    });
    const cancelled = await modern('tasks/cancel', { taskId: older }, options);
    expect(Object.keys(cancelled.result).sort()).toEqual(['_meta', 'resultType']);
    expect((await modern('tasks/get', { taskId: older }, options)).result.status).toBe('cancelled');
    const newer = await made();
    for (const method of ['tasks/get', 'tasks/cancel']) {
      expect(await modern(method, { taskId: newer }, options)).toMatchObject({ status: 400, error: NOT_DECLARED });
    }
    for (const taskId of [older, newer]) {
      const update = await modern('tasks/update', { taskId, inputResponses: {} }, options);
      expect(update).toMatchObject({ status: 400, error: NOT_DECLARED });
    }
    expect((await modern('tasks/get', { taskId: newer })).result.status).toBe('working');
  });
});
