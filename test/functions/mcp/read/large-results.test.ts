import { expect, test, vi } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { measured } from '../../../../functions/tasks/results/result-ref.ts';
import { fakeServer } from '../support/fake-server.ts';
import { OPERATIONS, OWNERS, ownersServer, use } from '../support/owners-server.ts';

const [ann] = OWNERS;

test.each([
  ['2026-07-28 tasks/get', 1],
  ['2026-07-28 get_task_result', 1],
  ['2026-07-28 cancel_task', 1],
  // The call is repeated by its `requestState`.
  ['go on with a task', 1],
  ['2025-11-25 tasks/result', 1],
  // These show no result.
  ['2025-11-25 tasks/get', 0],
  ['2026-07-28 tasks/cancel', 0],
])('%s of a task with a result of more than 2 MB counts as a list %i times (E-29)', async (name, times) => {
  const { pollLimit } = fakeServer().server;
  const server = ownersServer('oauth', { pollLimit });
  const own = await use(server, ann);
  const resultRef = { ...measured('x'), bytes: limits.result.large + 1 };
  for (const { asked: _, ...record } of server.records.all()) {
    server.records.set({ ...record, status: 'completed', result: JSON.stringify({ resultRef }) });
  }
  const counted = vi.spyOn(pollLimit, 'countList');
  const operation = OPERATIONS[name];
  await server.send(ann, operation?.send(own[operation.kind], own) ?? {});
  expect(counted).toHaveBeenCalledTimes(times);
});
