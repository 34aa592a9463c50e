import { expect, test } from 'vitest';
import { createTask, type FirstAnswers } from '../../../functions/mcp/methods/create-task.ts';
import type { Call } from '../../../functions/mcp/server.ts';
import { legacyWire } from '../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../functions/mcp/wire/2026-07-28.ts';
import { fakeServer, manifest } from './fake-server.ts';

const question = { method: 'elicitation/create', params: { message: '?', requestedSchema: { type: 'object' } } };
const tool = { ...manifest.tools.find(({ name }) => name === 'optional'), askFirst: { sure: question } } as never;
const answers: FirstAnswers = { sure: { action: 'accept', content: {} } };

/** Calls of one key, of clients of both revisions: only that of 2026-07-28 has been asked before it calls. */
function callers() {
  const fake = fakeServer();
  const make = (wire: Call['wire'], accepts: string[], first?: FirstAnswers) => {
    const params = { name: 'optional', _meta: { 'mcp-task-server/idempotencyKey': 'a key' } };
    const principal = { kind: 'verified', key: 'user' } as const;
    const call = { wire, accepts, params, principal, method: 'tools/call', request: { headers: {} } };
    return createTask(call as never, fake.server, tool, '{}', first);
  };
  const legacy = (accepts = ['elicitation/create']) => make(legacyWire, accepts);
  const modern = () => make(modernWire(manifest.serverInfo), ['elicitation/create'], answers);
  return { ...fake, legacy, modern, task: () => [...fake.records.values()][0] };
}

test('a task that was made with answers is not asked again by a repeat of the other revision, while it runs (crash table, row 6)', async () => {
  const { legacy, modern, task, records } = callers();
  await modern();
  await legacy();
  expect(task()).toMatchObject({ status: 'working', round: 1 });
  expect(records.size).toBe(1);
});

test('a task whose caller died before it asked is asked by any repeat: it does not run without answers (crash table, row 6)', async () => {
  const { legacy, modern, task, server, did } = callers();
  const { apply } = server.store;
  server.store.apply = () => Promise.reject(new Error('died'));
  await expect(legacy()).rejects.toThrow('died');
  server.store.apply = apply;
  await modern();
  expect(task()).toMatchObject({ status: 'input_required', round: 1 });
  expect(did).not.toContain('start');
});

test('a repeat of a client that cannot be asked does not fail the task of one that can', async () => {
  const { legacy, task, server } = callers();
  const { apply } = server.store;
  server.store.apply = () => Promise.reject(new Error('died'));
  await expect(legacy()).rejects.toThrow('died');
  server.store.apply = apply;
  await legacy([]);
  expect(task()).toMatchObject({ status: 'input_required' });
});
