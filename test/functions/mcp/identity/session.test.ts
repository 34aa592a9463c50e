import { expect, test } from 'vitest';
import { mintSession, openSession } from '../../../../functions/mcp/identity/session.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { fakeServer } from '../support/fake-server.ts';

const verified: Principal = { kind: 'verified', key: 'owner#a' };

test.each<[string, Principal]>([
  ['of an anonymous caller', { kind: 'anonymous' }],
  ['of a verified caller', verified],
])('a session ends 24 hours after it began: %s (B-05)', async (_, principal) => {
  const clock = { now: 1_700_000_000_000 };
  const { server } = fakeServer({ now: () => clock.now });
  const id = await mintSession(server, principal, '2025-11-25', ['elicitation/create']);
  clock.now += limits.session - 1_000;
  expect(await openSession(server, principal, id)).toMatchObject({ version: '2025-11-25' });
  clock.now += 1_000;
  expect(await openSession(server, principal, id)).toBeUndefined();
});
