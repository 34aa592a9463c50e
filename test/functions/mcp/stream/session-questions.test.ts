import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { shortHash } from '../../../../functions/mcp/stream/questions.ts';
import {
  askedBefore,
  askedOnSessionStream,
  changeNotes,
  noteAsked,
  noteQuestions,
  offersSessionStream,
  type SessionCall,
} from '../../../../functions/mcp/stream/session-questions.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { TooManyLists } from '../../../../functions/tasks/errors.ts';
import { sessionPartition } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import type { SessionNotes } from '../../../../functions/tasks/table/session-notes.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

const NOW = 1_700_000_000_000;
const { askAgain, silence, notes: most } = limits.sessionStream;
const form = {
  method: 'elicitation/create',
  params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
};
const asked = JSON.stringify({ inputRequests: { sure: form } });
const waiting = { taskId: 't', status: 'input_required', round: 1, asked } as TaskRecord;
const call = {
  ...{ wire: legacyWire, session: 's', tasks: true, accepts: ['elicitation/create'], principal: { kind: 'anonymous' } },
} as unknown as SessionCall;
const none: SessionNotes = { waiting: {}, asked: {} };

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** A session with these notes. */
async function session(before: SessionNotes = none) {
  const { server } = fakeServer();
  await server.store.updateSession(sessionPartition('s'), () => before, 0);
  return { server, notes: () => server.store.session(sessionPartition('s')) };
}

test('a session has a stream only if its client can be asked, and knows tasks (B-09, B-17)', () => {
  const { server } = fakeServer();
  expect(offersSessionStream(call, server)).toBe(true);
  const { session: _, ...without } = call;
  for (const other of [{ ...call, tasks: false }, { ...call, accepts: [] }, without]) {
    expect(offersSessionStream(other, server)).toBe(false);
  }
  expect(offersSessionStream(call, fakeServer({ manifest: { ...manifest, questionStream: false } }).server)).toBe(
    false,
  );
});

describe('a question counts as asked (B-11)', () => {
  test.each(['', '!'])('for three minutes, wherever it was: %s', (mark) => {
    const { server } = fakeServer();
    const counts = (age: number) => askedBefore({ ...none, asked: { [`${mark}t k`]: NOW - age } }, 't k', server);
    expect([counts(askAgain - 1), counts(askAgain)]).toEqual([true, false]);
    expect(askedBefore(none, 't k', server)).toBe(false);
  });

  test('to a held call for a minute only, and only on the stream of its session', () => {
    const { server } = fakeServer();
    const counts = (asking: string, age: number) =>
      askedOnSessionStream(waiting, 'k', { ...none, asked: { [asking]: NOW - age } }, server);
    expect([counts('!t k', silence - 1), counts('!t k', silence)]).toEqual([true, false]);
    expect([counts('t k', 0), counts('!u k', 0)]).toEqual([false, false]);
    expect(askedOnSessionStream(waiting, 'k', undefined, server)).toBe(false);
  });
});

describe('a poll that shows a question notes its task', () => {
  test('with the time, and once', async () => {
    const { server, notes } = await session();
    await noteQuestions(waiting, call, server);
    expect(await notes()).toEqual({ waiting: { t: NOW }, asked: {} });
    const earlier = await session({ waiting: { t: NOW - 5 }, asked: {} });
    await noteQuestions(waiting, call, earlier.server);
    expect(await earlier.notes()).toEqual({ waiting: { t: NOW - 5 }, asked: {} });
  });

  test('as a list of its owner: over that limit a later poll does (C-37)', async () => {
    const { server, notes } = await session();
    let count = 0;
    server.pollLimit.countList = async () => {
      if (count++ === 0) throw new TooManyLists(5);
    };
    vi.spyOn(console, 'error').mockImplementation(() => {});
    await noteQuestions(waiting, call, server);
    expect(await notes()).toEqual(none);
    await noteQuestions(waiting, call, server);
    expect(await notes()).toEqual({ waiting: { t: NOW }, asked: {} });
    await noteQuestions(waiting, call, server);
    expect(count).toBe(2);
  });

  test('not of a task that works, or of a client without a stream', async () => {
    const { server, notes } = await session();
    await noteQuestions({ ...waiting, status: 'working' }, call, server);
    await noteQuestions(waiting, { ...call, tasks: false }, server);
    expect(await notes()).toEqual(none);
  });

  test('not where all of its questions were asked, but where one is open', async () => {
    const first = { ...none, asked: { [`t ${shortHash('r1.sure#0', 8)}`]: NOW } };
    const { server, notes } = await session(first);
    await noteQuestions(waiting, call, server);
    expect(await notes()).toEqual(first);
    const two = JSON.stringify({ inputRequests: { sure: form, again: form } });
    await noteQuestions({ ...waiting, asked: two }, call, server);
    expect(await notes()).toEqual({ ...first, waiting: { t: NOW } });
  });

  test('and does not fail if the notes cannot be read, which is logged', async () => {
    const { server } = await session();
    server.store.session = () => Promise.reject(new Error('no'));
    await noteQuestions(waiting, call, server);
    expect(JSON.parse(vi.mocked(console.error).mock.calls[0]?.[0])).toMatchObject({ where: 'session notes' });
  });
});

describe('what a held call asks is noted (B-11)', () => {
  test('by task and question', async () => {
    const { server, notes } = await session();
    await noteAsked(waiting, ['a', 'b'], none, call, server);
    expect(await notes()).toEqual({ waiting: {}, asked: { 't a': NOW, 't b': NOW } });
  });

  test('again after a minute, with all that it asks', async () => {
    const asked = { 't a': NOW - silence, 't b': NOW - silence + 1 };
    const { server, notes } = await session({ ...none, asked });
    await noteAsked(waiting, ['b'], await notes(), call, server);
    expect(await notes()).toEqual({ ...none, asked });
    await noteAsked(waiting, ['a', 'b'], await notes(), call, server);
    expect(await notes()).toEqual({ ...none, asked: { 't a': NOW, 't b': NOW } });
  });

  test('not if another call has just noted it', async () => {
    const asked = { 't a': NOW - 1 };
    const { server, notes } = await session({ ...none, asked });
    await noteAsked(waiting, ['a'], none, call, server);
    expect(await notes()).toEqual({ ...none, asked });
  });

  test('also if only the stream of the session has asked it', async () => {
    const asked = { '!t a': NOW, 'u a': NOW };
    const { server, notes } = await session({ ...none, asked });
    await noteAsked(waiting, ['a'], await notes(), call, server);
    expect(await notes()).toEqual({ ...none, asked: { ...asked, 't a': NOW } });
  });

  test('not if it asks nothing, or its client has no stream', async () => {
    const { server } = await session();
    const update = vi.spyOn(server.store, 'updateSession');
    await noteAsked(waiting, [], none, call, server);
    await noteAsked(waiting, ['a'], none, { ...call, accepts: [] }, server);
    expect(update).not.toHaveBeenCalled();
  });
});

describe('the notes stay small:', () => {
  const change = async (of: SessionNotes) => {
    const { server, notes } = await session();
    await changeNotes(call, server, () => of);
    return notes();
  };

  test('what is older than three minutes goes', async () => {
    const times = { new: NOW - askAgain + 1, old: NOW - askAgain };
    const kept = { new: NOW - askAgain + 1 };
    expect(await change({ logLevel: 'info', waiting: times, asked: times })).toEqual({
      ...{ logLevel: 'info', waiting: kept, asked: kept },
    });
  });

  test('of too many the newest stay', async () => {
    const times = Object.fromEntries(Array.from({ length: most + 5 }, (_, i) => [`t${i}`, NOW - 1_000 + i]));
    const { waiting: kept } = await change({ waiting: times, asked: {} });
    expect(Object.keys(kept)).toHaveLength(most);
    expect(kept).not.toHaveProperty('t4');
    expect(kept).toHaveProperty('t5');
  });
});
