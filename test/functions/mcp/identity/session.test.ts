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

test('a session keeps what was agreed on, and opens for its caller alone (B-04, G-14)', async () => {
  const { server } = fakeServer({ now: () => 1_700_000_000_999 });
  const mint = (principal: Principal) => mintSession(server, principal, '2025-11-25', ['roots/list']);
  const anonymous = await mint({ kind: 'anonymous' });
  expect(await openSession(server, { kind: 'anonymous' }, anonymous)).toEqual({
    ...{ version: '2025-11-25', accepts: ['roots/list'], key: expect.stringMatching(/^[a-z0-9]{26}$/) },
    expires: 1_700_000_000 + 86_400,
  });
  expect(await openSession(server, verified, anonymous)).toBeUndefined();
  // What it is sealed for is the same in every release: a client keeps its session through a deployment.
  const sealed = await server.signer.seal('session', { key: 'k', expires: 2_000_000_000 });
  expect(await openSession(server, { kind: 'anonymous' }, sealed)).toMatchObject({ key: 'k' });
  const mine = await mint(verified);
  expect(await openSession(server, verified, mine)).toBeDefined();
  expect(await openSession(server, { kind: 'verified', key: 'owner#b' }, mine)).toBeUndefined();
  expect(await openSession(server, { kind: 'anonymous' }, mine)).toBeUndefined();
});
