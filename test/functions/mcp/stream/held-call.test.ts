import { describe, expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import {
  type HeldCall,
  holdFor,
  openHeld,
  sealHeld,
  sentOf,
  streamName,
} from '../../../../functions/mcp/stream/held-call.ts';
import type { HasPrincipal } from '../../../../functions/mcp/stream/questions.ts';
import { sessionPartition } from '../../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { fakeServer } from '../support/fake-server.ts';

const ann = { principal: { kind: 'verified', key: 'ann' } } as const;
const session = { principal: { kind: 'anonymous', session: 's'.repeat(26) } } as const;
const NOW = 1_700_000_100_000;
const { server } = fakeServer({ now: () => NOW });
const call: HeldCall = {
  ...{
    id: 'q1',
    owner: 'ann',
    taskId: '0'.repeat(36),
    delivers: 'call',
    version: '2025-11-25',
    closesAt: NOW + 25_000,
  },
  ...{ asked: [], links: [], progress: -1, seenAt: NOW, stream: 'abcd', sequence: 40, tokenOfTask: false },
};
const resumed = async (held: HeldCall, caller: HasPrincipal = ann) =>
  openHeld(caller, await sealHeld(caller, held, server), server);

describe('an event id carries the call that it resumes (B-11, C-19):', () => {
  test.each<[string, Partial<HeldCall>]>([
    ['a call', {}],
    ['a wait for a result, which has no end of its own', { delivers: 'result', closesAt: 0 }],
    ['an older revision', { version: '2025-06-18' }],
    ['an answer that was sent', { answered: true, closesAt: 0 }],
    ['a number as its id', { id: 7 }],
    ['a negative number', { id: -7 }],
    ['a large number', { id: Number.MAX_SAFE_INTEGER }],
    ['large progress', { progress: 1e21 }],
    ['a short text', { id: '~.é' }],
    ['an id in any characters', { id: 'naïve ~.é\ud800' }],
    ['a UUID', { id: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' }],
    ['the token of the task', { tokenOfTask: true }],
    ['progress in fractions', { progress: 0.25 }],
    ['a question', { asked: ['abcde'] }],
    ['links that the client was given', { links: ['abcde', '-_z09'] }],
    ['a record of a week ago', { seenAt: NOW - 7 * 86_400_000 }],
    ['a record of a clock that is ahead', { seenAt: NOW + 60_000 }],
    ['a task of another session', { taskId: `${'1'.repeat(26)}_${'0'.repeat(36)}` }],
  ])('%s', async (_name, more) => {
    const held = { ...call, ...more, closesAt: (more.seenAt ?? NOW) + 25_000 };
    const opened = await resumed(held);
    // An answered call has nothing to send, so what it delivers is not kept.
    const delivers = held.answered ? 'result' : held.delivers;
    expect(opened).toStrictEqual({
      ...{ ...held, delivers, stream: '', sequence: 0 },
      closesAt: delivers === 'call' ? held.closesAt : 0,
    });
  });

  test.each<[number, number]>([
    [1 / 3, 0.334],
    [123_456_789, 124e6],
    [-123_456_789, -123e6],
    [1.5e-300, Number.POSITIVE_INFINITY],
  ])('progress of %d goes on after %d: later values still increase (A-22)', async (progress, expected) => {
    expect((await resumed({ ...call, progress }))?.progress).toBe(expected);
  });

  test.each([1, 24, 26, 200])('the end of a window that begins %i days after its task', async (days) => {
    const of = { ...ann, id: 1, version: '2025-11-25', params: {} } as unknown as Call;
    const record = { ...call, createdAt: NOW - days * 86_400_000 } as unknown as TaskRecord;
    const held = holdFor(of, record, 'call', server);
    // To the second.
    const late = ((await resumed(held))?.closesAt ?? 0) - (NOW + server.manifest.inlineWindow);
    expect(late >= 0 && late < 1_000).toBe(true);
  });

  test('several questions as one digest, which says when all of them were asked', async () => {
    const held = await resumed({ ...call, asked: ['abcde', 'fghij'] });
    const asked = (open: string[]) => open.map((mark) => sentOf(held as HeldCall, open).has(mark));
    expect(asked(['fghij', 'abcde'])).toEqual([true, true]);
    expect(asked(['abcde'])).toEqual([false]);
    expect(asked(['abcde', 'fghij', 'klmno'])).toEqual([false, false, false]);
  });

  test('in at most 120 characters, whatever the call is, if its request id is not long', async () => {
    const ids = ['x'.repeat(11), 'ab', 12, Number.MAX_SAFE_INTEGER];
    const half = sessionPartition(session.principal.session).slice('session#'.length);
    for (const id of ids) {
      for (const delivers of ['call', 'result'] as const) {
        for (const caller of [ann, session]) {
          const taskId = caller === ann ? call.taskId : `${half}_${call.taskId}`;
          const more = {
            id,
            delivers,
            taskId,
            asked: ['abcde', 'fghij', 'klmno'],
            progress: -1 / 3,
            tokenOfTask: true,
          };
          const far = { closesAt: NOW + 7 * 86_400_000, seenAt: NOW, stream: streamName(), sequence: 1_200 };
          const held = { ...call, ...more, ...far };
          const eventId = await sealHeld(caller, held, server);
          expect(eventId.length).toBeLessThanOrEqual(120);
          expect(await openHeld(caller, eventId, server)).toMatchObject({ id, taskId, delivers });
        }
      }
    }
  });

  test('of another caller it opens nothing', async () => {
    const eventId = await sealHeld(ann, call, server);
    expect(await openHeld({ principal: { kind: 'verified', key: 'bob' } }, eventId, server)).toBeUndefined();
  });

  test('no two of them are the same, on one stream or on two', async () => {
    const others: Partial<HeldCall>[] = [{}, { sequence: 41 }, { stream: 'abce' }];
    const ids = await Promise.all(others.map((more) => sealHeld(ann, { ...call, ...more }, server)));
    expect(new Set(ids).size).toBe(3);
  });
});
