import { describe, expect, test } from 'vitest';
import type { Tool } from '../../../functions/mcp/context.ts';
import type { Answer } from '../../support/clients.ts';
import { clients } from './support/fake-clients.ts';
import { fakeServer } from './support/fake-server.ts';

describe('tools/call', () => {
  test('calls by one idempotency key start the same run, with arguments in any order', async () => {
    const inputs: string[] = [];
    const { legacy } = clients(
      fakeServer({
        workflow: { start: async (_record, input) => void inputs.push(input), stop: async () => {} },
      }),
    );
    const call = (args: object, name = 'optional') =>
      legacy('tools/call', {
        name,
        arguments: args,
        task: {},
        _meta: { 'mcp-task-server/idempotencyKey': 'k'.repeat(32) },
      });
    await call({ a: 1, b: { c: [{ e: 1, d: 2 }] } });
    await call({ b: { c: [{ d: 2, e: 1 }] }, a: 1 });
    expect(inputs).toHaveLength(2);
    expect(inputs[1]).toBe(inputs[0]);
    for (const other of [await call({ a: 2 }), await call({ a: 1, b: { c: [{ e: 1, d: 2 }] } }, 'required')]) {
      expect(other.error).toMatchObject({ code: -32602, message: expect.stringContaining('used for another call') });
    }
    expect(inputs).toHaveLength(2);
  });

  test('a repeat with another ttl is the same task, with the ttl of the first call (C-11)', async () => {
    const { legacy, records } = clients(fakeServer());
    const _meta = { 'mcp-task-server/idempotencyKey': 'k'.repeat(32) };
    const call = async (task: object): Promise<Answer['body']> =>
      (await legacy('tools/call', { name: 'optional', task, _meta })).result;
    const first = await call({ ttl: 60_000 });
    expect(first.task.ttl).toBe(360_000);
    expect(await call({ ttl: 86_400_000 })).toEqual(first);
    expect(records.ids()).toHaveLength(1);
  });

  test('the key of an expired task with the same run name is refused: nothing would run (row 6)', async () => {
    const fake = fakeServer({ workflow: { start: async () => 'taken', stop: async () => {} } });
    const { legacy, records } = clients(fake);
    const _meta = { 'mcp-task-server/idempotencyKey': 'weekly'.repeat(6) };
    const { error } = await legacy('tools/call', { name: 'optional', task: {}, _meta });
    expect(error).toEqual({ code: -32602, message: 'The task of this idempotency key has expired: use a new key' });
    expect(records.all().map(({ status }) => status)).toEqual(['failed']);
    // Without a key the name can only be taken by this very run, which was fast.
    expect((await legacy('tools/call', { name: 'optional', task: {} })).error).toBeUndefined();
  });

  test('a call whose start lost every answer still says which task has ended (row 3)', async () => {
    for (const [end, told] of [
      [{ status: 'completed', result: '"done"' }, 'task'],
      [{ status: 'failed', error: '{"code":-32603,"message":"Oops"}' }, 'task'],
      [undefined, 'try again'],
    ] as const) {
      const fake = fakeServer({
        workflow: {
          async start({ taskId }) {
            const record = fake.records.get(taskId);
            if (record !== undefined && end !== undefined) fake.records.set({ ...record, ...end });
            throw new Error('throttled');
          },
          stop: async () => {},
        },
      });
      const { result, error } = await clients(fake).legacy('tools/call', { name: 'optional', task: {} });
      if (told === 'task') expect(result).toMatchObject({ task: { taskId: fake.records.ids()[0] } });
      else expect(error?.message).toContain(told);
    }
  });

  test('a key on a tool that never runs as a task is refused, unless the tool may be repeated', async () => {
    const fake = fakeServer();
    const { legacy } = clients(fake);
    const _meta = { 'mcp-task-server/idempotencyKey': 'k'.repeat(32) };
    const { error } = await legacy('tools/call', { name: 'plain', _meta });
    expect(error).toEqual({
      code: -32602,
      message: 'Tool plain never runs as a task: it cannot be called under an idempotency key',
    });
    expect(fake.did).not.toContain('invoke');
    const { entry } = fake.server.tools.get('plain') as Tool;
    Object.assign(entry, { annotations: { idempotentHint: true } });
    expect((await legacy('tools/call', { name: 'plain', _meta })).error).toBeUndefined();
    Object.assign(entry, { annotations: {} });
  });

  test('refused arguments repeated by idempotency key are the same task, as first made (A-14)', async () => {
    const clock = { now: 1_700_000_000_000 };
    const fake = fakeServer({ now: () => clock.now });
    Object.assign(fake.server.tools.get('optional') ?? {}, { validate: () => false });
    const { legacy } = clients(fake);
    const _meta = { 'mcp-task-server/idempotencyKey': 'k'.repeat(32) };
    const call = async () => (await legacy('tools/call', { name: 'optional', task: {}, _meta })).result;
    const first = await call();
    clock.now += 5_000;
    expect(await call()).toEqual(first);
  });
});
