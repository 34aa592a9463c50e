import { expect, test } from 'vitest';
import type { Call } from '../../../functions/mcp/context.ts';
import { createTask, type FirstAnswers } from '../../../functions/mcp/methods/create-task.ts';
import { answerTask } from '../../../functions/mcp/methods/tasks-update.ts';
import { legacyWire } from '../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../functions/mcp/wire/2026-07-28.ts';
import { limits } from '../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../functions/tasks/record.ts';
import { fakeServer, manifest } from './support/fake-server.ts';

const question = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
const tool = { ...manifest.tools.find(({ name }) => name === 'optional'), askFirst: { sure: question } } as never;
const user = { kind: 'verified', key: 'user' } as const;
const answers: FirstAnswers = { sure: { action: 'accept', content: {} } };

/** Calls of one key, of clients of both revisions: only the 2026-07-28 client has been asked before it calls. */
function callers() {
  const fake = fakeServer();
  const make = (wire: Call['wire'], accepts: string[], first?: FirstAnswers) => {
    const params = { name: 'optional', _meta: { 'mcp-task-server/idempotencyKey': 'a key' } };
    const call = { wire, accepts, params, principal: user, method: 'tools/call', request: { headers: {} } };
    return createTask(call as never, fake.server, tool, '{}', first);
  };
  const legacy = (accepts = ['elicitation/create']) => make(legacyWire, accepts);
  const modern = () => make(modernWire(manifest.serverInfo), ['elicitation/create'], answers);
  return { ...fake, legacy, modern, task: () => fake.records.all()[0] };
}

test('a task made with answers is not asked again by a repeat of the other revision (row 6)', async () => {
  const { legacy, modern, task, records } = callers();
  await modern();
  await legacy();
  expect(task()).toMatchObject({ status: 'working', round: 1 });
  expect(records.ids()).toHaveLength(1);
});

test('the record is made with its questions: no crash leaves a task that starts without answers', async () => {
  const { legacy, modern, task, did } = callers();
  await legacy();
  await modern();
  expect(task()).toMatchObject({ status: 'input_required', round: 1, arguments: '{}', asked: expect.any(String) });
  expect(task()?.events).toEqual([
    { at: task()?.createdAt, what: 'created' },
    { at: task()?.createdAt, what: 'asked' },
  ]);
  expect(did.filter((call) => call !== 'get')).toEqual(['create']);
});

test('a task whose tool asks first only since a deployment is not started by a repeat', async () => {
  const { legacy, modern, task, did, records } = callers();
  await legacy();
  const { asked: _, ...left } = task() as TaskRecord;
  records.set({ ...left, status: 'working' });
  await modern();
  await legacy();
  expect(task()).toMatchObject({ status: 'working' });
  expect(did).not.toContain('start');
});

test('a client that cannot be asked: its task has failed from the beginning, and takes no slot', async () => {
  const { legacy, task, did, server } = callers();
  server.store.takeSlot = () => Promise.reject(new Error('a slot'));
  await legacy([]);
  expect(task()).toMatchObject({ status: 'failed', error: expect.stringContaining('InputNotSupported') });
  expect(task()).not.toHaveProperty('due');
  expect(did.filter((call) => call !== 'get')).toEqual(['create']);
  // The task of a client that can be asked is another one: a repeat gets that.
  const asked = callers();
  await asked.legacy();
  await asked.legacy([]);
  expect(asked.task()).toMatchObject({ status: 'input_required' });
});

test.each(['first', 'second'])('a %s answer that finds its run ended leaves it to the reconciler', async (which) => {
  const { legacy, task, server } = callers();
  await legacy();
  const send = () => answerTask(user, task()?.taskId, { 'r1.sure': answers.sure }, 'refuse', server);
  if (which === 'second') await send();
  server.workflow.start = async () => 'taken';
  await send();
  expect(task()).toMatchObject({ status: 'working', round: 2 });
  expect(task()).not.toHaveProperty('seenRound', 2);
});

test('arguments too large to ask first: an error with field and limit, nothing stored (A-13)', async () => {
  const fake = fakeServer();
  const params = { name: 'optional' };
  const call = { wire: modernWire(manifest.serverInfo), accepts: ['elicitation/create'], params, principal: user };
  const large = JSON.stringify({ text: 'x'.repeat(limits.asked) });
  const made = createTask(
    { ...call, method: 'tools/call', request: { headers: {} } } as never,
    fake.server,
    tool,
    large,
  );
  await expect(made).rejects.toThrow(
    `arguments are too large: this tool asks first, and both take ${limits.asked} bytes`,
  );
  expect([fake.records.ids().length, fake.did]).toEqual([0, []]);
});
