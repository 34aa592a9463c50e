import { describe, expect, test } from 'vitest';
import type { ServerContext, Tool } from '../../../../functions/mcp/context.ts';
import {
  complete,
  readAgain,
  readTask,
  readTasks,
  readTasksAgain,
  shown,
  view,
  visible,
} from '../../../../functions/mcp/read/read.ts';
import { newTaskKey } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer, START } from '../support/fake-server.ts';

const ann = { kind: 'verified', key: 'ann' } as const;
const task = { tool: 'required', ttl: 600_000, timeout: 300_000, accepts: [], legacy: false };
const taskOf = (more: Partial<TaskRecord> = {}): TaskRecord => ({
  ...create(newTaskKey(ann, START), task, START),
  ...more,
});
const NOT_FOUND = { event: 'audit', action: 'denied', owner: 'ann', reason: 'not_found' };

/** A server with these tasks. `scope`: what the tool needs. */
function serverWith(records: readonly TaskRecord[], { scope, at = START }: { scope?: string; at?: number } = {}) {
  const { server: plain, audited, ...fake } = fakeServer({ now: () => at });
  for (const record of records) fake.records.set(record);
  const tool = plain.tools.get('required') as Tool;
  const tools = new Map([
    ['required', scope === undefined ? tool : { ...tool, entry: { ...tool.entry, scopes: [scope] } }],
  ]);
  const counted: string[] = [];
  const pollLimit: ServerContext['pollLimit'] = {
    ...plain.pollLimit,
    count: ({ taskId }) => void counted.push(`count ${taskId}`),
    setInterval: ({ taskId }, interval) => void counted.push(`${interval} ${taskId}`),
  };
  const server: ServerContext = { ...plain, tools, pollLimit };
  return { ...fake, server, counted, audits: () => audited.map((line) => JSON.parse(line)) };
}

describe('one task', () => {
  test('that is unknown is one error, and one audit line', async () => {
    const { server, audits, counted } = serverWith([]);
    const { taskId } = taskOf();
    for (const id of [taskId, 'no id']) {
      await expect(readTask(ann, id, server, { polled: true })).rejects.toThrow('Task not found');
    }
    expect(audits()).toEqual([{ ...NOT_FOUND, taskId }, { ...NOT_FOUND }]);
    expect(counted).toEqual([`count ${taskId}`]);
  });

  test('is counted as a poll before the read, and its interval after it, if it is one', async () => {
    const record = taskOf();
    const { server, counted } = serverWith([record]);
    expect(await readTask(ann, record.taskId, server, {})).toEqual(record);
    expect(counted).toEqual([]);
    await readTask(ann, record.taskId, server, { polled: true });
    expect(counted).toEqual([`count ${record.taskId}`, `3000 ${record.taskId}`]);
  });

  test('of a tool whose scope the token lacks is refused', async () => {
    const record = taskOf();
    const { server, audits } = serverWith([record], { scope: 'buy' });
    await expect(readTask(ann, record.taskId, server)).rejects.toMatchObject({ httpStatus: 403 });
    expect(audits()).toMatchObject([{ reason: 'insufficient_scope' }]);
    expect(await readTask({ ...ann, scopes: ['buy'] }, record.taskId, server)).toEqual(record);
  });

  test('of an older client is shown to one', async () => {
    const record = taskOf({ legacy: true });
    const { server } = serverWith([record]);
    expect(await readTask(ann, record.taskId, server, { olderOnly: true })).toEqual(record);
  });

  test('with waits that no round can end has failed, and is stored so', async () => {
    const record = taskOf({ status: 'waiting', waits: '{' });
    const { server, records } = serverWith([record]);
    expect((await readTask(ann, record.taskId, server)).status).toBe('failed');
    expect(records.get(record.taskId)?.status).toBe('failed');
  });

  test('that works is not stored by its readers, whatever they see', async () => {
    const record = taskOf({ waits: '{' });
    const { server, did } = serverWith([record]);
    await readTask(ann, record.taskId, server);
    expect(did).toEqual(['get']);
  });

  test('is read again as long as it is there', async () => {
    const record = taskOf();
    expect(await readAgain(record, serverWith([record]).server, {})).toEqual(record);
    expect(await readAgain(record, serverWith([]).server, {})).toBe(undefined);
    expect(await readAgain(record, serverWith([{ ...record, ttl: 1 }], { at: START + 2 }).server, {})).toBe(undefined);
  });

  test('is completed by what its reader needs: a start that is missing, and its result', async () => {
    const record = taskOf({ round: 2, arguments: '{}', asked: '{}' });
    const late = { at: START + limits.restartAfter };
    for (const restart of [true, false]) {
      const { server, did } = serverWith([record], late);
      await complete(record, { restart }, server);
      expect(did.includes('start')).toBe(restart);
    }
    const failing = taskOf({ status: 'completed', result: 'no JSON' });
    const { server } = serverWith([failing]);
    expect(await complete(failing, {}, server)).toBe(failing);
    expect(await complete(failing, { result: 'shown' }, server)).not.toBe(failing);
  });
});

describe('many tasks', () => {
  test('belong to the caller, and are there; one audit line says how many are not', async () => {
    const [one, other] = [taskOf(), taskOf()];
    const missing = [taskOf(), taskOf()].map(({ taskId }) => taskId);
    const { server, audits } = serverWith([one, other]);
    expect(await readTasks(ann, [one.taskId, one.taskId, other.taskId, 'no id'], server)).toEqual([one, other]);
    expect(audits()).toEqual([]);
    expect(await readTasks(ann, [one.taskId, missing[0]], server)).toEqual([one]);
    expect(await readTasks(ann, [...missing, other.taskId], server)).toEqual([other]);
    expect(audits()).toEqual([
      { ...NOT_FOUND, taskId: missing[0] },
      { ...NOT_FOUND, taskId: missing[0], tasks: 2 },
    ]);
  });

  test('are read with as many reports as there are units for', async () => {
    const records = Array.from({ length: limits.listenTasks }, () => taskOf());
    const { server } = serverWith(records);
    const asked: number[] = [];
    const withReports: typeof server.store.withReports = async (some) => {
      asked.push(some.length);
      return [...some];
    };
    const counting = { ...server, store: { ...server.store, withReports } };
    const ids = records.map(({ taskId }) => taskId);
    expect(await readTasks(ann, ids, counting)).toHaveLength(limits.listenTasks);
    expect(await readTasks(ann, ids.slice(0, 50), counting)).toHaveLength(50);
    expect(asked).toEqual([2 * (limits.listenUnits - limits.listenTasks), 50]);
  });

  test('cost no read if there are none', async () => {
    const { server } = serverWith([]);
    const never = () => Promise.reject(new Error('a read'));
    const silent = {
      ...server,
      store: { ...server.store, getMany: never, readMany: never, withReports: async () => [] },
    };
    expect([await readTasks(ann, ['no id'], silent), await readTasksAgain([], silent)]).toEqual([[], []]);
  });

  test('of which one needs another scope are all refused; an expired one is left out', async () => {
    const record = taskOf();
    await expect(readTasks(ann, [record.taskId], serverWith([record], { scope: 'buy' }).server)).rejects.toMatchObject({
      httpStatus: 403,
    });
    const expired = serverWith([{ ...record, ttl: 1 }], { at: START + 2 });
    expect(await readTasks(ann, [record.taskId], expired.server)).toEqual([]);
  });

  test('are read again by cheap reads, and surely where a deadline decides', async () => {
    const [open, late, gone] = [taskOf(), taskOf({ deadlineAt: START - 60_000 }), taskOf({ ttl: 1 })];
    const { server } = serverWith([open, late, gone], { at: START + 2 });
    const sure: string[][] = [];
    const getMany: typeof server.store.getMany = async (keys) => {
      sure.push(keys.map(({ taskId }) => taskId));
      return [{ ...late, status: 'completed', result: '1' }];
    };
    const reading = { ...server, store: { ...server.store, getMany } };
    expect(await readTasksAgain([open], reading)).toEqual([open]);
    expect(sure).toEqual([]);
    const all = await readTasksAgain([open, late, gone], reading);
    expect(all.map(({ taskId, status }) => [taskId, status])).toEqual([
      [open.taskId, 'working'],
      [late.taskId, 'completed'],
    ]);
    expect(sure.map((ids) => ids.toSorted())).toEqual([[late.taskId, gone.taskId].toSorted()]);
    expect(
      await readTasksAgain([gone], { ...reading, store: { ...reading.store, getMany: async () => [gone] } }),
    ).toEqual([]);
  });

  test('of a list have not expired, and that the token may see (G-16)', () => {
    const [open, gone] = [taskOf(), taskOf({ ttl: 1 })];
    expect(visible(ann, [open, gone], START + 2, serverWith([]).server)).toEqual([open]);
    expect(visible(ann, [open], START, serverWith([], { scope: 'buy' }).server)).toEqual([]);
  });
});

describe('a task that waits for something else than its client', () => {
  const waits = JSON.stringify({ night: { kind: 'time', until: START + 60_000 } });

  test('works, and says until when it waits, or what its tool said', () => {
    const waiting = taskOf({ status: 'waiting', waits });
    expect(shown(waiting)).toMatchObject({ status: 'working', statusMessage: expect.stringContaining('2023-11-14') });
    const over = {
      status: 'waiting',
      waits: JSON.stringify({ a: { kind: 'link', until: START } }),
      signalled: ['a'],
    } as const;
    expect(shown(taskOf({ ...over, statusMessage: 'Half way' }))).toMatchObject({ statusMessage: 'Half way' });
    expect(shown(taskOf(over))).not.toHaveProperty('statusMessage');
    const done = taskOf({ status: 'completed' });
    expect(shown(done)).toBe(done);
  });

  test('has a poll interval, also if its tool is gone', () => {
    const { server } = serverWith([]);
    expect(view(taskOf({ tool: 'gone' }), server).pollInterval).toBeGreaterThan(0);
    expect(view(taskOf(), server).pollInterval).toBe(3_000);
  });
});
