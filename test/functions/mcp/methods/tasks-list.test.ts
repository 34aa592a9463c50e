import { expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { tasksList } from '../../../../functions/mcp/methods/tasks-list.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { inputStore } from '../../../../functions/tasks/s3/input-store.ts';
import { create } from '../../../../functions/tasks/transitions.ts';
import { fakeObjects } from '../../tasks/s3/fake-inputs.ts';
import { fakeServer } from '../support/fake-server.ts';

const NOW = 1_700_000_000_000;
const principal = { kind: 'verified', key: 'ann', scopes: [] };
const task = { tool: 'optional', ttl: 3_600_000, timeout: 60_000, accepts: ['elicitation/create'], legacy: true };
const message = 'x'.repeat(limits.inlineInput);
const form = { method: 'elicitation/create', params: { message, requestedSchema: { type: 'object', properties: {} } } };

test('a list moves the input of three waiting tasks, and of no others: it costs writes', async () => {
  const objects = fakeObjects();
  const { server } = fakeServer({ inputs: inputStore(objects) });
  const asked = JSON.stringify({ inputRequests: { sure: form } });
  for (let i = 0; i < 7; i++) {
    const record = { ...create({ owner: 'ann', taskId: String(i).repeat(36) }, task, NOW), arguments: '{}' };
    // The first works, and holds as much; the second asks little.
    const large = i === 1 ? asked.replace(message, '?') : asked;
    await server.store.create({ ...record, asked: large, status: i === 0 ? 'working' : 'input_required' });
  }
  const { tasks } = (await tasksList({ wire: legacyWire, params: {}, principal } as unknown as Call, server)) as {
    tasks: { status: string }[];
  };
  expect(tasks).toHaveLength(7);
  expect([...objects.objects.keys()].map((key) => /([2-6])\1{35}/.exec(key)?.[1])).toEqual(['2', '3', '4']);
});

test('a caller that lists in a loop gets 429 before any read, and others are served (C-37)', async () => {
  const { server, did } = fakeServer();
  const list = (key: string) =>
    tasksList({ wire: legacyWire, params: {}, principal: { ...principal, key } } as unknown as Call, server);
  for (let i = 0; i < limits.lists.burst; i++) await list('ann');
  const before = did.length;
  await expect(list('ann')).rejects.toMatchObject({ httpStatus: 429, retryAfter: 1 });
  expect(did.length).toBe(before);
  await list('bob');
});
