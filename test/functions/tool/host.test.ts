import { expect, test, vi } from 'vitest';
import { ToolError } from '../../../functions/tool/errors.ts';
import { recordHost } from '../../../functions/tool/host.ts';

const failure = vi.hoisted(() => ({ name: '' }));
vi.mock('../../../functions/tasks/store.ts', () => ({
  runStore: () => ({
    glimpse: async () => ({ status: 'working', round: 1 }),
    applyBlind: async () => {
      throw Object.assign(new Error('Item size to update has exceeded the maximum allowed size'), failure);
    },
  }),
}));

const task = { taskId: 't', owner: 'o', table: 'T', results: 'B', round: 1, attempt: 0, deadline: 1 };

test('what makes the item of a task too large is told in our words; what DynamoDB could not do now is not the tool’s fault', async () => {
  failure.name = 'ValidationException';
  await expect(recordHost.remember(task, '{}')).rejects.toThrow(ToolError);
  await expect(recordHost.remember(task, '{}')).rejects.toThrow('400 KB together');
  failure.name = 'ThrottlingException';
  await expect(recordHost.remember(task, '{}')).rejects.toMatchObject({ name: 'ThrottlingException' });
});
