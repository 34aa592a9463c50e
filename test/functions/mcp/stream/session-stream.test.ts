import { expect, test } from 'vitest';
import type { SessionCall } from '../../../../functions/mcp/stream/session-questions.ts';
import { openCursor, sessionStream } from '../../../../functions/mcp/stream/session-stream.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { fakeServer } from '../support/fake-server.ts';

test.each<[string, Principal]>([
  ['of one owner', { kind: 'verified', key: 'owner#a' }],
  ['of anonymous callers', { kind: 'anonymous', session: 'one' } as Principal],
])('an event id opens in its own session only, not in another one %s (B-10)', async (_, principal) => {
  const { server } = fakeServer();
  const call = (session: string) => ({ principal, session }) as SessionCall;
  let frames = '';
  const { signal } = new AbortController();
  const start = { seen: [], activeAt: server.now(), resumed: false };
  for await (const frame of sessionStream(start, call('one'), server, signal)) frames += frame;
  const eventId = /^id: (\S+)$/m.exec(frames)?.[1] ?? '';
  expect(await openCursor(call('one'), eventId, server)).toMatchObject({ seen: [] });
  expect(await openCursor(call('two'), eventId, server)).toBeUndefined();
});
