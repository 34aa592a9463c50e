import { expect, test } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { clients } from '../support/fake-clients.ts';

test.each([
  ['modern', 1],
  ['legacy', 0],
] as const)('a result counts as retrieved by a poll of %s: %i times (C-14, E-11)', async (era, times) => {
  const here = clients();
  const { taskId } = (await here.modern('tools/call', { name: 'optional' })).result as unknown as { taskId: string };
  const record = here.records.get(taskId) as TaskRecord;
  here.records.set({ ...record, status: 'completed', result: '"x"', legacy: true });
  here.audited.length = 0;
  expect((await here[era]('tasks/get', { taskId })).result).toMatchObject({ status: 'completed' });
  expect(here.audited.filter((line) => line.includes('retrieved'))).toHaveLength(times);
});
