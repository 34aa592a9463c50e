import { expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { tasksList } from '../../../../functions/mcp/methods/tasks-list.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { fakeServer } from '../support/fake-server.ts';

const principal = { kind: 'verified', key: 'ann', scopes: [] };

test('a caller that lists in a loop gets 429 before any read, and others are served (C-37)', async () => {
  const { server, did } = fakeServer();
  const list = (key: string) =>
    tasksList({ wire: legacyWire, params: {}, principal: { ...principal, key } } as unknown as Call, server);
  for (let i = 0; i < 1 + limits.lists.most; i++) await list('ann');
  const before = did.length;
  await expect(list('ann')).rejects.toMatchObject({ httpStatus: 429, retryAfter: 5 });
  expect(did.length).toBe(before);
  await list('bob');
});
