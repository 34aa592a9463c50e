import { describe, expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { type HeldCall, openHeld, progressTokenOf, sealHeld } from '../../../../functions/mcp/stream/held-call.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import { fakeServer } from '../support/fake-server.ts';

const ann = { principal: { kind: 'verified', key: 'ann' } } as const;
const { server } = fakeServer();
const call: HeldCall = {
  ...{ id: 'q1', taskId: '0'.repeat(36), delivers: 'call', version: '2025-11-25', closesAt: 1_700_000_000_000 },
  ...{ asked: [], progress: -1, seenAt: 1_700_000_000_123, stream: 'abcd', sequence: 40 },
};

describe('an event id carries the call that it resumes (B-11, C-19):', () => {
  test.each<[string, Partial<HeldCall>]>([
    ['a call', {}],
    ['a wait for a result, which has no end of its own', { delivers: 'result', closesAt: 0 }],
    ['an older revision', { version: '2025-06-18' }],
    ['an answer that was sent', { answered: true, closesAt: 0 }],
    ['a number as its id', { id: 7 }],
    ['a number with an exponent', { id: 1e300, progress: 1e21 }],
    ['an id in any characters', { id: 'naïve ~.é\ud800' }],
    ['a token', { progressToken: 'p~' }],
    ['a token that is a number', { progressToken: 0 }],
    ['progress in fractions', { progress: 0.25 }],
    ['questions', { asked: ['abcde', 'fghij'] }],
  ])('%s', async (_name, more) => {
    const held = { ...call, ...more };
    const opened = await openHeld(ann, await sealHeld(ann, held, server), server);
    // An answered call has nothing to send, so what it delivers is not kept.
    const delivers = held.answered ? 'result' : held.delivers;
    expect(opened).toStrictEqual({
      ...{ ...held, delivers, stream: '', sequence: 0 },
      closesAt: held.delivers === 'call' ? held.closesAt : 0,
    });
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

test.each<[unknown, unknown]>([
  ['p', 'p'],
  ['', ''],
  [0, 0],
  [1.5, undefined],
  [true, undefined],
  [undefined, undefined],
  ['x'.repeat(limits.progressToken), 'x'.repeat(limits.progressToken)],
  ['x'.repeat(limits.progressToken + 1), undefined],
])('a progress token is a text of some length or an integer (A-22): %s', (progressToken, expected) => {
  expect(progressTokenOf({ params: { _meta: { progressToken } } })).toBe(expected);
  expect(progressTokenOf({ params: { _meta: 'x' } } as unknown as Call)).toBeUndefined();
});
