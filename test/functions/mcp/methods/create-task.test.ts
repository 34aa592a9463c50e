import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TooManyStarts } from '../../../../functions/tasks/errors.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { inputStore } from '../../../../functions/tasks/s3/input-store.ts';
import { createObjects } from '../../../support/engine/objects.ts';
import { type Asked, creatingServer, FORM, NOW } from '../support/creating-server.ts';
import { manifest } from '../support/fake-server.ts';

const question = { method: FORM, params: { message: '?', requestedSchema: { type: 'object', properties: {} } } };

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());
const logged = () => vi.mocked(console.error).mock.calls.map(([line]) => JSON.parse(line));

describe('a new task', () => {
  test.each([-1, Number.POSITIVE_INFINITY, '5'])('has no ttl of %s (C-11)', async (ttl) => {
    const { create, records } = creatingServer();
    await expect(create({ era: 'legacy', task: { ttl } })).rejects.toMatchObject({
      ...{ code: -32602, message: 'task.ttl is a number of ms' },
    });
    expect(records.ids()).toHaveLength(0);
  });

  test('may have a ttl of 0: it is read for as long as its work may take (C-11)', async () => {
    const { create, only } = creatingServer();
    await create({ era: 'legacy', task: { ttl: 0 } });
    expect(only().ttl).toBeGreaterThan(0);
  });

  test('names the schema that its result is held to, if there is one (A-19)', async () => {
    const { create, only } = creatingServer();
    await create({ tool: { outputSchemaId: 'v1' } });
    expect(only().outputSchemaId).toBe('v1');
  });

  test.each<[string, Asked, boolean, boolean]>([
    ['small, and the client can answer', {}, false, true],
    ['large, and the client can answer', { args: large() }, true, false],
    ['small, and the client cannot answer', { accepts: [] }, false, true],
    ['large, and the client cannot answer', { accepts: [], args: large() }, false, true],
  ])('with arguments that are %s', async (_name, asked, isMoved, kept) => {
    const { create, only, objects, did, inputs, server } = creatingServer();
    const { put } = server.inputs;
    server.inputs.put = (...given) => {
      did.push('put');
      return put(...given);
    };
    await create(asked);
    // What a record refers to is there before it.
    expect(did).toEqual([...(isMoved ? ['put'] : []), 'create', 'start']);
    expect(only().inputRef !== undefined).toBe(isMoved);
    expect(only().arguments).toBeUndefined();
    expect([...objects.objects.values()].map((text) => JSON.parse(text).arguments)).toEqual(
      isMoved ? [asked.args] : [],
    );
    expect(inputs[0]).toMatchObject({ arguments: asked.args ?? '{}' });
    expect(inputs[0]?.keepArguments).toBe(kept ? undefined : false);
  });

  test('with arguments that are too large once they are escaped: an error, and nothing is stored', async () => {
    const { create, records } = creatingServer();
    const args = JSON.stringify({ x: '"'.repeat(70_000) });
    await expect(create({ args })).rejects.toMatchObject({
      code: -32602,
      message: 'arguments are too large once they are escaped: a task carries 256 KiB at most',
    });
    expect(records.ids()).toHaveLength(0);
  });

  test('with as many arguments as a task can carry, if its tool does not ask first', async () => {
    const { create, records } = creatingServer();
    const args = JSON.stringify({ x: '"'.repeat(62_000) });
    await create({ args });
    expect(records.ids()).toHaveLength(1);
    await expect(create({ args, tool: { askFirst: { sure: question } } })).rejects.toMatchObject({ code: -32602 });
  });

  test('whose tool asks first waits for its client; one that cannot be asked fails it (E-32)', async () => {
    const tool = { askFirst: { sure: question } };
    const { start, did } = creatingServer();
    expect(await start({ era: 'legacy', tool })).toMatchObject({ status: 'input_required' });
    expect(did).not.toContain('start');
    const other = creatingServer();
    const failed = await other.start({ era: 'legacy', tool, accepts: [] });
    expect(failed.status).toBe('failed');
    expect(JSON.parse(failed.error ?? '')).toEqual({
      code: -32603,
      message: 'The tool needs input of a kind that the client did not declare it can give',
      data: { reason: 'InputNotSupported', kinds: [FORM] },
    });
    expect(other.did).not.toContain('start');
  });

  test('that ends as it is made is counted, and not made beyond the bound (C-37)', async () => {
    const tool = { askFirst: { sure: question } };
    const { refuse, start, server, records } = creatingServer();
    const counted: unknown[] = [];
    server.store.countRefused = async (...call) => counted.push(call) < 2;
    await refuse({ era: 'legacy' });
    await expect(refuse({ era: 'legacy' })).rejects.toMatchObject({
      code: -32602,
      message: 'no (no task was made: 100 calls of this caller were refused within a day)',
    });
    await expect(start({ era: 'legacy', tool, accepts: [] })).rejects.toMatchObject({
      message: expect.stringContaining('The tool needs input of a kind that the client did not declare it can give ('),
    });
    expect(records.ids()).toHaveLength(1);
    expect(counted).toEqual(Array(3).fill(['user', limits.refusedTasks.most, NOW, limits.refusedTasks.within]));
    await refuse({ era: 'legacy', principal: { kind: 'anonymous' } });
    expect(counted).toHaveLength(3);
  });

  test.each([250, 251])('that started in %s ms: after 250 a client may have found and cancelled it', async (ms) => {
    const { create, server, at, did, records } = creatingServer();
    server.workflow.start = async ({ taskId }) => {
      at.now += ms;
      const record = records.get(taskId);
      if (record) records.set({ ...record, status: 'cancelled' });
    };
    await create();
    expect(did.includes('stop')).toBe(ms > 250);
  });

  test('is started even if the read for a cancel fails', async () => {
    const { create, server, at } = creatingServer();
    server.workflow.start = async () => {
      at.now += 300;
    };
    server.store.get = () => Promise.reject(new Error('no'));
    await create();
    expect(logged()).toMatchObject([{ event: 'unexpected_error', where: 'over before its start' }]);
  });
});

const large = () => JSON.stringify({ x: 'y'.repeat(limits.inlineInput) });

describe('the slots of a caller (C-37)', () => {
  test('one is taken for a new task, until after the longest task has gone', async () => {
    const { create, server, only } = creatingServer();
    const takeSlot = vi.spyOn(server.store, 'takeSlot');
    await create();
    const expires = Math.ceil((NOW + manifest.maxTtl + limits.retention) / 1_000);
    const rest = [NOW, expires, expect.any(Function), server.sleep];
    expect(takeSlot.mock.calls).toEqual([[only(), manifest.maxOpenTasks, ...rest]]);
  });

  test('without one nothing is stored', async () => {
    const { create, server, records } = creatingServer();
    server.store.takeSlot = async () => false;
    const data = { reason: 'TooManyOpenTasks', limit: manifest.maxOpenTasks };
    await expect(create()).rejects.toMatchObject({ code: -32603, data });
    expect(records.ids()).toHaveLength(0);
  });

  test('are not asked for by callers who look alike, refused arguments, or a repeat', async () => {
    const { create, refuse, server, did } = creatingServer();
    await create({ key: 'k' });
    server.store.takeSlot = async () => false;
    did.length = 0;
    await create({ key: 'k' });
    // A repeat reads its task once, and once more after its start.
    expect(did).toEqual(['get', 'start', 'applyBlind', 'get']);
    await create({ principal: { kind: 'anonymous' } });
    await refuse();
  });
});

describe('a repeat under an idempotency key', () => {
  test.each<[string, Partial<TaskRecord>]>([
    ['has ended', { status: 'completed', result: '1' }],
    ['asks', { status: 'input_required', asked: JSON.stringify({ inputRequests: { sure: question } }) }],
    ['is in a later round', { round: 2 }],
  ])('starts nothing if its task %s', async (_name, more) => {
    const { start, change, did } = creatingServer();
    await start({ key: 'k' });
    change(more);
    did.length = 0;
    expect(await start({ key: 'k' })).toMatchObject(more);
    expect(did).not.toContain('start');
  });

  test('starts nothing if the input of its task is lost', async () => {
    const { start, server, did } = creatingServer();
    const asked = { key: 'k', args: large() };
    await start(asked);
    // In another container, which remembers no text.
    Object.assign(server.inputs, inputStore(createObjects()));
    did.length = 0;
    expect(await start(asked)).toMatchObject({ status: 'failed' });
    expect(did).not.toContain('start');
  });

  test('sends the input of the first call, also from a client that can be asked less', async () => {
    const { start, inputs } = creatingServer();
    await start({ key: 'k' });
    await start({ key: 'k', accepts: [] });
    expect(inputs[1]).toEqual(inputs[0]);
  });

  test('leaves a task alone whose run has its name already', async () => {
    const { start, only, server } = creatingServer();
    await start({ key: 'k' });
    server.workflow.start = async () => 'taken';
    await start({ key: 'k' });
    expect(only().status).toBe('working');
  });

  test('after the ttl of its task is an error that asks for another key', async () => {
    const { start, change, did } = creatingServer();
    await start({ key: 'k' });
    change({ ttl: 0 });
    did.length = 0;
    await expect(start({ key: 'k' })).rejects.toMatchObject({
      code: -32602,
      message: 'The task of this idempotency key has expired: use a new key',
    });
    expect(did).not.toContain('start');
  });

  test('that loses the race for the record, and does not find it, is an error', async () => {
    const { start, server, did } = creatingServer();
    server.store.create = async () => false;
    await expect(start({ key: 'k' })).rejects.toMatchObject({ code: -32603 });
    expect(did).not.toContain('start');
  });
});

describe('a start that fails', () => {
  const TRY = 'The task could not be started: try again later';
  const failing = (error: Error) => {
    const here = creatingServer();
    here.server.workflow.start = () => Promise.reject(error);
    return here;
  };

  test('is logged by the name of its error, and says in the record no more than the client may see', async () => {
    const { start, only } = failing(Object.assign(new Error('planted'), { name: 'Denied' }));
    await expect(start()).rejects.toThrow(TRY);
    expect(logged()).toEqual([{ event: 'start_failed', tool: 'optional', error: 'Denied' }]);
    expect(JSON.parse(only().error ?? '')).toEqual({ code: -32603, message: 'The task could not be started' });
  });

  test('for certain, under a key: a repeat may have started it, so the task is left alone', async () => {
    const { start, only } = failing(new TooManyStarts(true));
    const { status, deadlineAt } = await (async () => {
      await expect(start({ key: 'k' })).rejects.toBeInstanceOf(TooManyStarts);
      return only();
    })();
    expect([status, deadlineAt > NOW]).toEqual(['working', true]);
  });

  test('for certain, and cannot be withdrawn: the log says so', async () => {
    const { start, server } = failing(new TooManyStarts(true));
    server.store.apply = () => Promise.reject(new Error('no'));
    await expect(start()).rejects.toBeInstanceOf(TooManyStarts);
    expect(logged()).toMatchObject([{ event: 'start_failed' }, { where: 'withdrawing a task' }]);
  });

  test.each<[string, Partial<TaskRecord> | undefined]>([
    ['was cancelled meanwhile', { status: 'cancelled' }],
    ['is gone', undefined],
  ])('is stopped if its task %s', async (_name, more) => {
    const { start, server, did, records, change } = failing(new Error('lost'));
    server.store.apply = async () => {
      if (more === undefined) records.clear();
      else change(more);
      return undefined;
    };
    await expect(start()).rejects.toThrow(TRY);
    expect(did).toContain('stop');
  });

  test('of a repeat is logged, and changes nothing', async () => {
    const { start, only, server } = creatingServer();
    await start({ key: 'k' });
    const before = only();
    server.workflow.start = () => Promise.reject(new Error('no'));
    await expect(start({ key: 'k' })).rejects.toThrow(TRY);
    expect(only()).toEqual(before);
    expect(logged()).toMatchObject([{ event: 'unexpected_error', where: 'repeated call' }]);
  });

  test('after a put that the SDK repeated: the record is this call’s own, and is failed', async () => {
    const { start, server, only } = failing(new Error('lost'));
    const { create } = server.store;
    server.store.create = async (record) => {
      await create({ ...record });
      return false;
    };
    await expect(start()).rejects.toThrow(TRY);
    expect(only().status).toBe('failed');
  });
});

test('the record of a refused call stays small, whatever its problem quotes (C-07)', async () => {
  const { refuse, only } = creatingServer();
  await refuse({}, '\u0001'.repeat(1_000));
  expect(Buffer.byteLength(only().result ?? '')).toBeLessThanOrEqual(limits.result.inline);
});
