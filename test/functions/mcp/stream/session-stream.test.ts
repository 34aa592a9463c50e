import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { shortHash } from '../../../../functions/mcp/stream/questions.ts';
import type { SessionCall } from '../../../../functions/mcp/stream/session-questions.ts';
import { openCursor, type SessionCursor, sessionStream } from '../../../../functions/mcp/stream/session-stream.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { type Principal, sessionPartition } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import type { SessionNotes } from '../../../../functions/tasks/table/session-notes.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

test.each<[string, Principal]>([
  ['of one owner', { kind: 'verified', key: 'owner#a' }],
  ['of anonymous callers', { kind: 'anonymous', session: 'one' } as Principal],
])('an event id opens in its own session only, not in another one %s (B-10)', async (_, principal) => {
  const { server } = fakeServer();
  const call = (session: string) => ({ principal, session }) as SessionCall;
  let frames = '';
  const start = { seen: [], activeAt: server.now(), resumed: false };
  for await (const frame of sessionStream(start, call('one'), server)) frames += frame;
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
  function setup(holdCap = 20_500) {
    let now = 1_700_000_000_000;
    const sleep = async (ms: number) => {
      now += ms;
    };
    const fake = fakeServer({ manifest: { ...manifest, holdCap }, now: () => now, sleep });
    const begun = now;
    const start = { seen: [], activeAt: now, resumed: false };
    const stream = () => sessionStream(start, call, fake.server);
    const frames = async () => {
      const all: string[] = [];
      for await (const frame of stream()) if (frame !== '') all.push(frame);
      return all;
    };
    /** A task that asks, with the digit `n` as its id. */
    const task = async (n: number, over: Partial<TaskRecord> = {}) => {
      const options = { tool: 'optional', ttl: 3_600_000, timeout: 3_600_000, accepts: [form.method], legacy: true };
      const record = create({ owner: 'ann', taskId: idOf(n) }, options, now);
      const asked = JSON.stringify({ inputRequests: { sure: form } });
      await fake.server.store.create({ ...record, status: 'input_required', asked, arguments: '{}', ...over });
    };
    const note = (notes: Partial<SessionNotes>) =>
      fake.server.store.updateSession(sessionPartition('s'), () => ({ waiting: {}, asked: {}, ...notes }), 0);
    const notes = () => fake.server.store.session(sessionPartition('s'));
    const asking = async () => {
      await task(1);
      await note({ waiting: { [idOf(1)]: now - 60_000 } });
    };
    /** One read by a client that comes back: the questions, and the cursor of the last event id. */
    const read = async (cursor: Partial<SessionCursor> = {}) => {
      const all: string[] = [];
      const back = { ...start, resumed: true, ...cursor };
      for await (const frame of sessionStream(back, call, fake.server)) all.push(frame);
      const [, retries] = /^retry: (\d+)$/m.exec(all[0] ?? '') ?? [];
      const last = await openCursor(call, idsOf(all).at(-1) ?? '', fake.server);
      const asked = all.filter((frame) => frame.includes(form.method)).length;
      return { frames: all, asked, retry: Number(retries), last };
    };
    Object.assign(call, { accepts: [form.method] });
    return { ...fake, frames, stream, asking, task, note, notes, read, begun, elapsed: () => now - begun };
  }
  const idOf = (n: number) => `${n}`.padStart(36, '0');
  const form = {
    method: 'elicitation/create',
    params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
  };
  const idsOf = (frames: string[]) => frames.flatMap((frame) => /^id: (\S+)$/m.exec(frame)?.[1] ?? []);

  test('is held while its question is open, and ends with an event id (B-09)', async () => {
    const { frames, asking, elapsed } = setup();
    await asking();
    const all = await frames();
    expect(elapsed()).toBe(20_500);
    expect(all.map((frame) => frame.slice(0, 4))).toEqual(['id: ', 'id: ', 'id: ']);
    expect(all.map((frame) => frame.includes('retry: '))).toEqual([true, false, true]);
    // Each names its place: two streams, or two frames, never have the same (B-11).
    expect(new Set([...idsOf(all), ...idsOf(await setup().frames())]).size).toBe(4);
  });

  test('reads the questions of a task once, as long as its record stays as it is', async () => {
    const { frames, task, note, server, begun } = setup();
    const asked = JSON.stringify({ inputRequests: { sure: form } });
    await task(1, { asked: undefined, inputRef: 'ref' } as object);
    await note({ waiting: { [idOf(1)]: begun - 60_000 } });
    const whole = vi.spyOn(server.inputs, 'whole').mockImplementation(async (record) => ({ ...record, asked }));
    const getMany = vi.spyOn(server.store, 'getMany');
    expect((await frames()).filter((frame) => frame.includes(form.method))).toHaveLength(1);
    expect(getMany.mock.calls.length).toBeGreaterThan(10);
    expect(whole).toHaveBeenCalledTimes(1);
  });

  test('only says when to come back in an outage, which is logged (B-10)', async () => {
    const { frames, server } = setup();
    server.store.session = outage;
    const all = await frames();
    expect(all).toEqual([expect.stringContaining(`retry: ${retry.min}\n`)]);
    expect(await openCursor(call, idsOf(all)[0] ?? '', server)).toMatchObject({ seen: [] });
    expect(JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0])).toMatchObject({ where: 'session stream' });
  });

  test('says nothing more in an outage once it has begun, or without a key', async () => {
    const later = setup();
    await later.asking();
    const { session: read } = later.server.store;
    let reads = 0;
    later.server.store.session = (name) => (++reads > 1 ? outage() : read(name));
    expect(await later.frames()).toHaveLength(2);
    const keyless = setup();
    keyless.server.store.session = outage;
    keyless.server.signer.sign = outage;
    expect(await keyless.frames()).toEqual([': keep-alive\n\n']);
  });

  describe('when its client comes back,', () => {
    const { askAgain, tasks } = limits.sessionStream;
    const sure = (n: number) => `!${idOf(n)} ${shortHash('r1.sure#0', 8)}`;
    const mark = (n: number) => shortHash(sure(n), 8);

    test('repeats what it missed, but not what was asked three minutes ago (B-11, C-20)', async () => {
      for (const [age, asked] of [
        [askAgain - 1, 1],
        [askAgain, 0],
      ] as const) {
        const { task, note, read, begun } = setup();
        await task(1);
        await note({ asked: { [sure(1)]: begun - age } });
        expect((await read()).asked).toBe(asked);
      }
    });

    test('an event id names only questions that may still be repeated, so it stays short', async () => {
      const { task, note, read, begun } = setup();
      await task(1);
      await note({ asked: { [sure(1)]: begun - 1 } });
      const { asked, last } = await read({ seen: [mark(2), mark(1), mark(3)] });
      expect([asked, last?.seen]).toEqual([0, [mark(1)]]);
    });

    test('reads a bounded number of tasks', async () => {
      const { note, read, server, begun } = setup();
      const waiting = Array.from({ length: tasks + 1 }, (_, n) => [idOf(n), begun - 60_000]);
      await note({ waiting: Object.fromEntries(waiting) });
      const getMany = vi.spyOn(server.store, 'getMany');
      await read();
      expect(getMany.mock.calls.map(([keys]) => keys.length)).toEqual([tasks]);
    });

    test('forgets tasks that no longer wait, and keeps the others', async () => {
      const { task, note, notes, read, begun } = setup();
      await task(1, { status: 'working' });
      await task(2, { status: 'working' });
      const asked = { [sure(2)]: begun - 1 };
      // The first has waited long enough, the second was asked here, the third is new.
      await note({ asked, waiting: { [idOf(1)]: begun - 60_000, [idOf(2)]: begun, [idOf(3)]: begun } });
      await read();
      expect(await notes()).toEqual({ asked, waiting: { [idOf(3)]: begun } });
    });

    test('writes nothing where nothing is due', async () => {
      const { note, read, server, begun } = setup();
      await note({ waiting: { [idOf(1)]: begun } });
      const update = vi.spyOn(server.store, 'updateSession');
      await read();
      expect(update).not.toHaveBeenCalled();
    });

    test('writes once where two streams find the same question', async () => {
      const { asking, read, server } = setup();
      await asking();
      const changes: unknown[] = [];
      const { updateSession } = server.store;
      server.store.updateSession = (session, change, expiresAt) =>
        updateSession(session, (now) => changes[changes.push(change(now)) - 1] as SessionNotes, expiresAt);
      const both = await Promise.all([read(), read()]);
      expect(both.map(({ asked }) => asked).toSorted()).toEqual([0, 1]);
      // The second one is refused by its condition, reads again, and has nothing to write.
      expect(changes.map((change) => change === undefined)).toEqual([false, false, true]);
    });

    test('tells it to come back at once while a task waits, later the longer none has asked (B-10)', async () => {
      const { note, read, begun } = setup();
      const activeAt = begun - 200_000;
      await note({ asked: { [sure(1)]: begun - 20_000 } });
      expect(await read({ activeAt })).toMatchObject({ retry: 3_000, last: { activeAt: begun - 20_000 } });
      await note({ waiting: { [idOf(1)]: begun - 60_000 } });
      expect(await read({ activeAt })).toMatchObject({ retry: retry.min, last: { activeAt: begun } });
    });

    test('gets at most 240 KB of questions at once, and the rest when it comes back (B-09)', async () => {
      const { task, note, read, begun } = setup();
      const asked = (bytes: number) => {
        const params = { ...form.params, message: 'x'.repeat(bytes) };
        return JSON.stringify({ inputRequests: { sure: { ...form, params } } });
      };
      const [one, three] = [200_000, limits.sessionStream.bytes / 3];
      for (const n of [1, 2]) await task(n, { asked: asked(one) });
      for (const n of [3, 4, 5]) await task(n, { asked: asked(three) });
      await note({ waiting: Object.fromEntries([1, 2, 3, 4, 5].map((n) => [idOf(n), begun - 60_000])) });
      const times: number[] = [];
      let seen: readonly string[] = [];
      for (let back = 0; back < 5; back++) {
        const { asked: now, last } = await read({ seen });
        times.push(now);
        seen = last?.seen ?? [];
      }
      expect(times).toEqual([1, 1, 2, 1, 0]);
      expect(new Set(seen)).toEqual(new Set([1, 2, 3, 4, 5].map(mark)));
    });

    describe('to 850 questions of 50 tasks,', () => {
      const names = Array.from({ length: 17 }, (_, q) => `q${q}`);
      const all = Array.from({ length: tasks }, (_, n) => names.map((name) => `${n} ${name}`)).flat();

      async function crowded() {
        const { task, note, read, server, begun } = setup();
        const ask = (message: string) => ({ ...form, params: { ...form.params, message } });
        for (let n = 0; n < tasks; n++) {
          const inputRequests = Object.fromEntries(names.map((name) => [name, ask(`${n} ${name}`)]));
          await task(n, { asked: JSON.stringify({ inputRequests }) });
        }
        const waiting = Array.from({ length: tasks }, (_, n) => [idOf(n), begun - 60_000]);
        await note({ waiting: Object.fromEntries(waiting) });
        let seen: readonly string[] = [];
        /** Comes back once, for the questions as `<task> <name>`. */
        const back = async (from = seen): Promise<string[]> => {
          const { frames, last } = await read({ seen: from });
          seen = last?.seen ?? [];
          // The row of docs/limits.md, and what it says of event ids.
          expect(Buffer.byteLength(frames.join(''))).toBeLessThanOrEqual(250_000);
          expect(Math.max(...idsOf(frames).map((id) => id.length))).toBeLessThanOrEqual(2_500);
          return frames.flatMap((frame) => /"message":"([^"]+)"/.exec(frame)?.[1] ?? []);
        };
        const answers: Record<string, string>[] = Array.from({ length: tasks }, () => ({}));
        const answer = async (questions: readonly string[]) => {
          for (const [n = '', name] of questions.map((one) => one.split(' '))) {
            const inputResponses = Object.assign(answers[Number(n)] ?? {}, { [`r1.${name}`]: '{}' });
            const key = { owner: 'ann', taskId: idOf(Number(n)) };
            await server.store.apply(key, { from: ['input_required'], set: { inputResponses: { ...inputResponses } } });
          }
        };
        return { back, answer };
      }

      test('asks each that arrives once, as others are answered, with short event ids (B-09, B-11)', async () => {
        const { back, answer } = await crowded();
        const lost = await back();
        const asked = await back([]);
        expect(asked).toEqual(lost);
        await answer(asked);
        for (let times = 0; times < 9 && asked.length < all.length; times++) {
          const now = await back();
          asked.push(...now);
          await answer(now);
        }
        expect(asked.toSorted()).toEqual(all.toSorted());
        expect(await back()).toEqual([]);
      });

      test('has 300 open at once, of each task as many, and the rest after answers (B-09)', async () => {
        const { back, answer } = await crowded();
        const asked: string[] = [];
        for (let times = 0; times < 5; times++) asked.push(...(await back()));
        expect(asked).toHaveLength(limits.sessionStream.notes);
        expect(new Set(asked.map((one) => one.split(' ')[0])).size).toBe(tasks);
        await answer(asked.slice(0, 10));
        const more = await back();
        expect(more).toHaveLength(10);
        expect(new Set([...asked, ...more]).size).toBe(310);
        expect(await back()).toEqual([]);
      });
    });
  });
});
