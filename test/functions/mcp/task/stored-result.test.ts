import { expect, test, vi } from 'vitest';
import { withResult } from '../../../../functions/mcp/task/stored-result.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { create } from '../../../../functions/tasks/transitions.ts';
import { fakeServer } from '../support/fake-server.ts';

const bytes = limits.result.inline + 1;
const task = { tool: 'optional', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
const record = {
  ...create({ owner: 'o', taskId: 't' }, task, 1_700_000_000_000),
  status: 'completed' as const,
  result: JSON.stringify({ resultRef: { bytes } }),
};
const shown = (text: string) => withResult(record, fakeServer({ results: { get: async () => text } }).server);

test('a stored result is shown only if it has the recorded number of bytes (C-28)', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  const whole = JSON.stringify('x'.repeat(bytes - 2));
  expect((await shown(whole)).result).toBe(whole);
  for (const other of [JSON.stringify('x'.repeat(bytes - 3)), JSON.stringify('é'.repeat(bytes - 2))]) {
    await expect(shown(other)).rejects.toThrow('cannot be read at the moment');
  }
  vi.restoreAllMocks();
});
