import { describe, expect, test } from 'vitest';
import { mintSession, senderOf } from '../../../../functions/mcp/identity/session.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { ALL_KINDS, fakeServer } from '../support/fake-server.ts';

const anonymous: Principal = { kind: 'anonymous' };
const verified: Principal = { kind: 'verified', key: 'owner#a' };
const clock = { now: 0 };
const { server, audited } = fakeServer({ now: () => clock.now });
const mint = (principal: Principal) => mintSession(server, principal, '2025-11-25', ['roots/list']);
const sender = (principal: Principal, headers: Record<string, string>) =>
  senderOf({ method: 'POST', headers, body: '' }, principal, server);
const opened = async (principal: Principal, id: string) => (await sender(principal, { 'mcp-session-id': id })).session;

test.each<[string, Principal]>([
  ['of an anonymous caller', anonymous],
  ['of a verified caller', verified],
])('a session ends 24 hours after it began: %s (B-05)', async (_, principal) => {
  clock.now = 1_700_000_000_000;
  const id = await mint(principal);
  clock.now += limits.session - 1_000;
  expect(await opened(principal, id)).toMatchObject({ version: '2025-11-25' });
  clock.now += 1_000;
  await expect(opened(principal, id)).rejects.toMatchObject({ message: expect.stringContaining('Session not found') });
});

test('a session id stays below 300 bytes, whatever its client can be asked (docs/limits.md)', async () => {
  clock.now = 1_700_000_000_000;
  expect((await mintSession(server, verified, '2025-11-25', ALL_KINDS)).length).toBeLessThan(300);
});

test('a session keeps what was agreed on, and opens for its caller alone (B-04, G-14)', async () => {
  clock.now = 1_700_000_000_999;
  const theirs = await mint(anonymous);
  expect(await opened(anonymous, theirs)).toEqual({
    ...{ version: '2025-11-25', accepts: ['roots/list'], key: expect.stringMatching(/^[a-z0-9]{26}$/) },
    expires: 1_700_000_000 + 86_400,
  });
  // Its purpose is the same in every release: a client keeps its session through a deployment.
  const sealed = await server.signer.seal('session', { key: 'k', expires: 2_000_000_000 });
  expect(await opened(anonymous, sealed)).toMatchObject({ key: 'k' });
  const mine = await mint(verified);
  expect(await opened(verified, mine)).toBeDefined();
  audited.splice(0);
  const foreign = { message: 'Session not found: initialize again', httpStatus: 404 };
  await expect(opened(verified, theirs)).rejects.toMatchObject(foreign);
  await expect(opened({ kind: 'verified', key: 'owner#b' }, mine)).rejects.toMatchObject(foreign);
  await expect(opened(anonymous, mine)).rejects.toMatchObject(foreign);
  expect(audited.map((line) => JSON.parse(line))).toMatchObject([
    { action: 'denied', owner: 'owner#a', reason: 'session' },
    { action: 'denied', owner: 'owner#b', reason: 'session' },
    { action: 'denied', reason: 'session' },
  ]);
});

describe('the sender of a request', () => {
  test('is known by its session if it is anonymous, and by its key if it is verified (G-14, G-15)', async () => {
    const key = (await opened(anonymous, await mint(anonymous)))?.key;
    expect((await sender(anonymous, { 'mcp-session-id': await mint(anonymous) })).principal).toEqual({
      ...{ kind: 'anonymous', session: expect.not.stringMatching(String(key)) },
    });
    expect((await sender(verified, { 'mcp-session-id': await mint(verified) })).principal).toEqual(verified);
  });

  test('has no session without an id, or where a header names 2026-07-28 (D-32)', async () => {
    const modern = { 'mcp-session-id': 'forged', 'mcp-protocol-version': '2026-07-28' };
    for (const headers of [{}, modern]) {
      expect(await sender(anonymous, headers)).toEqual({ request: expect.anything(), principal: anonymous });
    }
  });
});
