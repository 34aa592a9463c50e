import { describe, expect, test } from 'vitest';
import type { ServerContext } from '../../../../functions/mcp/context.ts';
import { machineStates } from '../../../../functions/mcp/read/machine-states.ts';
import { complete } from '../../../../functions/mcp/read/read.ts';
import type { ExecutionState } from '../../../../functions/tasks/aws/execution-history.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { fakeServer } from '../support/fake-server.ts';

const record: TaskRecord = {
  ...{ owner: 'o', taskId: 't', version: 1, status: 'working', round: 2, tool: 'machine', ttl: 60_000, expiresAt: 0 },
  ...{ createdAt: 100, updatedAt: 200, deadlineAt: 900, events: [] },
};

describe('what a reader sees', () => {
  const server = (state: ExecutionState | undefined, stateMachine?: number): ServerContext => {
    const { server: plain } = fakeServer({ currentState: async () => state });
    const tool = plain.tools.get('optional');
    if (tool === undefined) throw new Error('no such tool');
    const entry = { ...tool.entry, ...(stateMachine !== undefined && { stateMachine }) };
    return { ...plain, tools: new Map([['machine', { ...tool, entry }]]) };
  };
  const state = { name: 'Gather', enteredAt: 300 };

  test('the state as status message, and since when', async () => {
    expect(await complete(record, { state: true }, server(state, 0))).toEqual({
      ...record,
      statusMessage: 'Gather',
      updatedAt: 300,
    });
  });

  test('the count of its Map behind the state', async () => {
    const map = { name: 'All', done: 57, of: 200, event: 9 };
    const shown = await complete(record, { state: true }, server({ ...state, map }, 0));
    expect(shown).toMatchObject({ statusMessage: 'Gather (57 of 200)' });
  });

  test('never earlier than the record itself', async () => {
    const shown = await complete(record, { state: true }, server({ ...state, enteredAt: 150 }, 0));
    expect(shown).toMatchObject({ statusMessage: 'Gather', updatedAt: 200 });
  });

  test.each<[string, TaskRecord, ServerContext]>([
    ['nothing is known', record, server(undefined, 0)],
    ['the tool is a function', record, server(state)],
    ['the tool is gone', { ...record, tool: 'gone' }, server(state, 0)],
    ['the tool said something itself', { ...record, statusMessage: 'Half way' }, server(state, 0)],
    ['the task waits for input', { ...record, status: 'input_required' }, server(state, 0)],
    ['the task is over', { ...record, status: 'completed', result: '1' }, server(state, 0)],
  ])('the record as it is, where %s', async (_title, task, some) => {
    expect(await complete(task, { state: true }, some)).toBe(task);
  });
});

describe('reads of a Map', () => {
  test('get the count of the read before, and a new count is a change', async () => {
    const befores: unknown[] = [];
    let done = 0;
    const read = async (_arn: string, before: unknown) => {
      befores.push(before);
      done += 1;
      return { name: 'One', enteredAt: 5, map: { name: 'All', done, of: 3, event: done } };
    };
    const clock = { now: 0 };
    const states = machineStates(
      ['One'],
      'arn:aws:states:eu-west-1:1:stateMachine:S-',
      read,
      async () => true,
      () => clock.now,
    );
    const first = await states(record, 0);
    clock.now += 10_000;
    const second = await states(record, 0);
    expect(befores).toEqual([undefined, first?.map]);
    expect(second).toMatchObject({ map: { done: 2 }, enteredAt: 6 });
  });
});

describe('reads of executions', () => {
  const PREFIX = 'arn:aws:states:eu-west-1:123456789012:stateMachine:S-';
  function looking(
    answer: (look: number) => ExecutionState | Error | undefined,
    count = async (_owner: string) => true,
  ) {
    const looked: string[] = [];
    const clock = { now: 0 };
    const look = async (executionArn: string) => {
      looked.push(executionArn);
      const found = answer(looked.length);
      if (found instanceof Error) throw found;
      return found;
    };
    const states = machineStates(['One', 'Two'], PREFIX, look, count, () => clock.now);
    const later = (ms: number, task = record) => {
      clock.now += ms;
      return states(task, 1);
    };
    return { looked, later };
  }
  const named = (name: string) => Object.assign(new Error('no'), { name });

  test('is at the round of the task', async () => {
    const { looked, later } = looking(() => undefined);
    await later(0);
    expect(looked).toEqual(['arn:aws:states:eu-west-1:123456789012:execution:Two:t-r2']);
  });

  test('happens every other second, however many ask', async () => {
    const { looked, later } = looking((look) => ({ name: `S${look}`, enteredAt: look }));
    const both = await Promise.all([later(0), later(0)]);
    expect(both.map((state) => state?.name)).toEqual(['S1', 'S1']);
    expect((await later(1_999))?.name).toBe('S1');
    expect((await later(1))?.name).toBe('S2');
    await later(0, { ...record, taskId: 'another' });
    expect(looked).toHaveLength(3);
  });

  test('goes on with what was seen when it fails, and lets Step Functions rest', async () => {
    const { looked, later } = looking((look) =>
      look === 2 ? named('ThrottlingException') : { name: `S${look}`, enteredAt: look },
    );
    await later(0);
    expect((await later(2_000))?.name).toBe('S1');
    expect((await later(9_999))?.name).toBe('S1');
    expect(looked).toHaveLength(2);
    expect((await later(1))?.name).toBe('S3');
  });

  test('of an owner who has no read left wait for the next window, and no other owner waits', async () => {
    const counts: string[] = [];
    const count = async (owner: string) => {
      counts.push(owner);
      return owner !== 'o' || counts.length > 2;
    };
    const { looked, later } = looking((look) => ({ name: `S${look}`, enteredAt: look }), count);
    expect(await later(0)).toBeUndefined();
    expect(await later(2_000, { ...record, taskId: 'another' })).toBeUndefined();
    expect(await later(0, { ...record, owner: 'p', taskId: 'p' })).toMatchObject({ name: 'S1' });
    expect(counts).toEqual(['o', 'p']);
    expect(await later(limits.states.window - 2_000)).toMatchObject({ name: 'S2' });
    expect(looked).toHaveLength(2);
  });

  test('rest when they cannot be counted', async () => {
    const { looked, later } = looking(
      () => ({ name: 'S', enteredAt: 1 }),
      async () => Promise.reject(named('ProvisionedThroughputExceededException')),
    );
    expect(await later(0)).toBeUndefined();
    expect(looked).toEqual([]);
  });

  test('does not rest for an execution that is not there yet', async () => {
    const { later } = looking((look) => (look === 1 ? named('ExecutionDoesNotExist') : { name: 'S', enteredAt: 5 }));
    expect(await later(0)).toBeUndefined();
    expect(await later(2_000)).toEqual({ name: 'S', enteredAt: 5 });
  });

  test('a state is entered when it is seen to be another one, and time does not go back', async () => {
    const seen = [
      { name: 'Map', enteredAt: 10 },
      { name: 'Inside', enteredAt: 20 },
      { name: 'Map', enteredAt: 10 },
      { name: 'Map', enteredAt: 40 },
      undefined,
      { name: 'End', enteredAt: 50 },
    ];
    const { later } = looking((look) => seen[look - 1]);
    const told: (ExecutionState | undefined)[] = [];
    for (const _ of seen) told.push(await later(2_000));
    expect(told.map((state) => state?.enteredAt)).toEqual([10, 20, 21, 21, 21, 50]);
    expect(told.slice(-2).map((state) => state?.name)).toEqual(['Map', 'End']);
  });

  test('has a budget for all of them together, and each has its turn: the quota is the account’s', async () => {
    const { looked, later } = looking(() => ({ name: 'S', enteredAt: 1 }));
    const tasks = Array.from({ length: 100 }, (_, i) => ({ ...record, taskId: `t${i}` }));
    const told: (ExecutionState | undefined)[] = [];
    const look = async (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        await later(1_000);
        told.splice(0, 100, ...(await Promise.all(tasks.map((task) => later(0, task)))));
      }
    };
    await look(10);
    expect(looked.length).toBeLessThanOrEqual(10 + 5 * 10);
    expect(looked.length).toBeGreaterThan(20);
    await look(90);
    expect(looked.length).toBeLessThanOrEqual(10 + 5 * 100);
    expect(new Set(looked).size).toBe(101);
    expect(told.map((state) => state?.name)).toEqual(tasks.map(() => 'S'));
  });

  test('ten at once, then no more: and only those asked for in the last 10 s slow it down', async () => {
    const { looked, later } = looking(() => ({ name: 'S', enteredAt: 1 }));
    for (let i = 0; i < 100; i++) await later(0, { ...record, taskId: `t${i}` });
    expect(looked).toHaveLength(10);
    await later(10_000);
    await later(2_000);
    expect(looked).toHaveLength(12);
  });

  test('remembers a thousand of them', async () => {
    const { looked, later } = looking(() => ({ name: 'S', enteredAt: 1 }));
    for (let i = 0; i <= 1_000; i++) await later(1_000, { ...record, taskId: `t${i}` });
    await later(0, { ...record, taskId: 't1000' });
    expect(looked).toHaveLength(1_001);
    await later(0, { ...record, taskId: 't0' });
    expect(looked).toHaveLength(1_002);
  });
});
