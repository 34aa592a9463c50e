import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SessionCall } from '../../../../functions/mcp/stream/session-questions.ts';
import { openCursor, sessionStream } from '../../../../functions/mcp/stream/session-stream.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { type Principal, sessionPartition } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { create } from '../../../../functions/tasks/transitions.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

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

describe('the stream of a session', () => {
  const session = { principal: { kind: 'verified', key: 'ann' }, session: 's', accepts: [] };
  const call = { ...session, wire: legacyWire, tasks: true } as unknown as SessionCall;
  const { retry } = limits.sessionStream;
  const outage = () => Promise.reject(new Error('no'));

  beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
  afterEach(() => void vi.restoreAllMocks());

  /** One that a question keeps open. Time passes only while the server sleeps. */
  function world(holdCap = 20_500) {
    let now = 1_700_000_000_000;
    const sleep = async (ms: number) => {
      now += ms;
    };
    const fake = fakeServer({ manifest: { ...manifest, holdCap }, now: () => now, sleep });
    const begun = now;
    const start = { seen: [], activeAt: now, resumed: false };
    const stream = (gone = new AbortController().signal) => sessionStream(start, call, fake.server, gone);
    const frames = async (gone?: AbortSignal) => {
      const all: string[] = [];
      for await (const frame of stream(gone)) all.push(frame);
      return all;
    };
    const asking = async () => {
      const task = { tool: 'optional', ttl: 3_600_000, timeout: 3_600_000, accepts: [form.method], legacy: true };
      const record = create({ owner: 'ann', taskId: '1'.repeat(36) }, task, now);
      const asked = JSON.stringify({ inputRequests: { sure: form } });
      await fake.server.store.create({ ...record, status: 'input_required', asked, arguments: '{}' });
      const waiting = { [record.taskId]: now - 60_000 };
      await fake.server.store.updateSession(sessionPartition('s'), () => ({ waiting, asked: {} }), 0);
    };
    Object.assign(call, { accepts: [form.method] });
    return { ...fake, frames, stream, asking, elapsed: () => now - begun };
  }
  const form = {
    method: 'elicitation/create',
    params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
  };
  const idsOf = (frames: string[]) => frames.flatMap((frame) => /^id: (\S+)$/m.exec(frame)?.[1] ?? []);

  test('is held while its question is open, by comments, and ends with an event id (B-09)', async () => {
    const { frames, asking, elapsed } = world();
    await asking();
    const all = await frames();
    expect(elapsed()).toBe(20_500);
    expect(all.map((frame) => frame.split('\n')[0]?.slice(0, 4))).toEqual(['id: ', 'id: ', ': ke', 'id: ']);
    expect(all.map((frame) => frame.includes('retry: '))).toEqual([true, false, false, true]);
    // Each names its place: two streams, or two frames, never have the same (B-11).
    expect(new Set([...idsOf(all), ...idsOf(await world().frames())]).size).toBe(4);
  });

  test('ends when its reader has gone', async () => {
    const { frames, asking, elapsed } = world();
    await asking();
    const gone = new AbortController();
    gone.abort();
    expect(await frames(gone.signal)).toHaveLength(2);
    expect(elapsed()).toBe(1_000);
  });

  test('only says when to come back in an outage, which is logged (B-10)', async () => {
    const { frames, server } = world();
    server.store.session = outage;
    const all = await frames();
    expect(all).toEqual([expect.stringContaining(`retry: ${retry.min}\n`)]);
    expect(await openCursor(call, idsOf(all)[0] ?? '', server)).toMatchObject({ seen: [] });
    expect(JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0])).toMatchObject({ where: 'session stream' });
  });

  test('says nothing more in an outage once it has begun, or without a key', async () => {
    const later = world();
    await later.asking();
    const { session: read } = later.server.store;
    let reads = 0;
    later.server.store.session = (name) => (++reads > 1 ? outage() : read(name));
    expect(await later.frames()).toHaveLength(2);
    const keyless = world();
    keyless.server.store.session = outage;
    keyless.server.signer.sign = outage;
    expect(await keyless.frames()).toEqual([': keep-alive\n\n']);
  });
});
