import { expect, test } from 'vitest';
import type { SessionCall } from '../../../../functions/mcp/stream/asked.ts';
import { openCursor, sessionStream } from '../../../../functions/mcp/stream/session-stream.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { fakeServer } from '../fake-server.ts';

test.each<[string, Principal]>([
  ['of one owner', { kind: 'verified', key: 'owner#a' }],
  ['of anonymous callers', { kind: 'anonymous', session: 'one' } as Principal],
])('an event id opens in its own session only, not in another one %s (B-10)', async (_, principal) => {
  const { server } = fakeServer();
  const call = (session: string) => ({ principal, session }) as SessionCall;
  let frames = '';
  for await (const frame of sessionStream({ seen: [], activeAt: server.now() }, call('one'), server)) frames += frame;
  const eventId = /^id: (\S+)$/m.exec(frames)?.[1] ?? '';
  expect(await openCursor(call('one'), eventId, server)).toMatchObject({ seen: [] });
  expect(await openCursor(call('two'), eventId, server)).toBeUndefined();
});
