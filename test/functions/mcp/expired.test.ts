import { expect, test } from 'vitest';
import { expired } from '../../../functions/mcp/caller.ts';
import { fakeServer } from './fake-server.ts';

test('a token counts to the millisecond that it says, and no longer (G-04)', () => {
  const now = 1_700_000_000_000;
  const { server } = fakeServer({ now: () => now });
  const caller = { key: 'owner#a', scopes: [], enough: true, challengeAt: '/mcp/challenge' };
  const at = (expires: number) =>
    expired({ method: 'POST', headers: {}, body: '', caller: { ...caller, expires } }, server)?.status;
  expect([at(now + 1), at(now), at(now - 1), at(now / 1_000)]).toEqual([undefined, undefined, 307, 307]);
});
