import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ServerContext } from '../../../functions/mcp/context.ts';
import { ENGINES, type Engine, engineOf } from '../../../functions/tasks/engines.ts';
import { TooManyStarts } from '../../../functions/tasks/errors.ts';
import { newTaskKey } from '../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { askFirst, create } from '../../../functions/tasks/transitions/begin.ts';
import { TASKS } from '../../support/clients.ts';
import { applied } from '../tasks/applied.ts';
import { clients } from './support/fake-clients.ts';
import { ALL_KINDS, fakeServer, START as T0 } from './support/fake-server.ts';
import { modernCall } from './support/posted.ts';

const MINUTE = 60_000;
const key = newTaskKey({ kind: 'anonymous' }, T0);
const question = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
const asked = JSON.stringify({ inputRequests: { a: question, b: question } });
const ACCEPT = { action: 'accept', content: {} };

/** A server whose tool `required` is on this engine, and everything it started. */
function serverOn(engine: Engine, refusal?: Error) {
  const starts: string[] = [];
  const workflow: ServerContext['workflow'] = {
    async start({ round }) {
      starts.push(`r${round}`);
      if (refusal !== undefined) throw refusal;
    },
    stop: async () => {},
  };
  const fake = fakeServer({ workflow });
  const tool = fake.server.tools.get('required');
  if (tool === undefined) throw new Error('no such tool');
  const entry = { ...tool.entry, engine };
  const tools = new Map([...fake.server.tools, ['required', { ...tool, entry }]]);
  const server = { ...fake.server, tools, toolEngine: () => engine };
  return { ...fake, server, starts };
}

function waiting(engine: Engine): TaskRecord {
  const task = { tool: 'required', ttl: 60 * MINUTE, timeout: 30 * MINUTE, accepts: ALL_KINDS, legacy: false, engine };
  const made = { ...create(key, task, T0), arguments: '{}' };
  return applied(made, askFirst(made, asked, '{}', T0)) ?? made;
}

const update = (server: ServerContext, inputResponses: object) =>
  modernCall(server, 'tasks/update', { taskId: key.taskId, inputResponses }, { capabilities: TASKS });
const ALL = { 'r1.a': ACCEPT, 'r1.b': ACCEPT };

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

describe('answers to a task on Express', () => {
  test('20 equal answers start one run: only that which wrote the last one starts it (row 16)', async () => {
    const { server, starts, records } = serverOn('express');
    records.set(waiting('express'));
    await Promise.all(Array.from({ length: 10 }, () => update(server, ALL)));
    for (let i = 0; i < 10; i++) await update(server, ALL);
    expect(starts).toEqual(['r2']);
  });

  test('the start of a later round is noted, so that the sweep does not start it again (row 16)', async () => {
    const { server, records } = serverOn('express');
    records.set(waiting('express'));
    await update(server, ALL);
    expect(records.get(key.taskId)).toMatchObject({ round: 2, seenRound: 2, dueAt: T0 + ENGINES.express.dead });
  });

  test.each([
    ['no room', new TooManyStarts(true), { seenRound: 2, dueAt: T0 }],
    ['no answer', new TooManyStarts(false), { dueAt: T0 + MINUTE }],
  ])('a start that finds %s is left to the next sweep, and repeats start nothing', async (_, refusal, left) => {
    const { server, starts, records } = serverOn('express', refusal);
    records.set(waiting('express'));
    expect((await update(server, ALL)).status).toBe(429);
    expect(records.get(key.taskId)).toMatchObject({ status: 'working', round: 2, ...left });
    await update(server, ALL);
    expect(starts).toEqual(['r2']);
  });

  test('the last answer says on which engine the next round is (row 23)', async () => {
    for (const [before, now] of [
      ['standard', 'express'],
      ['express', 'standard'],
    ] as const) {
      const { server, records } = serverOn(now);
      records.set(waiting(before));
      await update(server, { 'r1.a': ACCEPT });
      expect(engineOf(records.get(key.taskId) ?? {})).toBe(before);
      await update(server, { 'r1.b': ACCEPT });
      expect(engineOf(records.get(key.taskId) ?? {})).toBe(now);
    }
  });
});

describe('calls of a tool on Express', () => {
  const _meta = { 'mcp-task-server/idempotencyKey': 'k'.repeat(32) };
  const call = (fake: ReturnType<typeof serverOn>, params: object) =>
    clients(fake).legacy('tools/call', { name: 'required', task: {}, ...params });

  test('20 repeats under an idempotency key start one run (row 6)', async () => {
    const fake = serverOn('express');
    const first = (await call(fake, { _meta })).result;
    for (let i = 0; i < 19; i++) expect((await call(fake, { _meta })).result).toEqual(first);
    expect(fake.starts).toEqual(['r1']);
    expect(fake.records.ids()).toHaveLength(1);
  });

  test('a certain refusal under a key: the next sweep starts it, a repeat gets the task (row 2)', async () => {
    const fake = serverOn('express', new TooManyStarts(true));
    await call(fake, { _meta });
    expect(fake.records.all()).toMatchObject([{ status: 'working', seenRound: 1, dueAt: T0 }]);
    expect((await call(fake, { _meta })).result).toMatchObject({ task: { status: 'working' } });
    expect(fake.starts).toEqual(['r1']);
  });

  test('without a key it is withdrawn (row 2)', async () => {
    const fake = serverOn('express', new TooManyStarts(true));
    await call(fake, {});
    expect(fake.records.all()).toMatchObject([{ status: 'failed', ttl: 0 }]);
  });
});
