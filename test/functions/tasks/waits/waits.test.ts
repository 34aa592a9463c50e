import { expect, test } from 'vitest';
import { isOver, nextCheck, waitMessage, waitsOf } from '../../../../functions/tasks/waits/waits.ts';

const recordOf = (waits: unknown) => ({ waits: JSON.stringify(waits) });
const T = Date.UTC(2026, 10, 26, 6);
const sleep = { kind: 'time', until: T } as const;

test.each([
  ['a name of 64 characters, however many bytes', { ['🦊'.repeat(64)]: { kind: 'more' } }, true],
  ['a name of 65', { ['x'.repeat(65)]: { kind: 'more' } }, false],
  ['half a character', { 'a\ud83d': { kind: 'more' } }, false],
  ['no name', { '': { kind: 'more' } }, false],
  ['20 waits', Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i, sleep])), true],
  ['21 waits', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, sleep])), false],
  ['no wait', {}, false],
  ['an inherited kind', { a: { kind: 'toString' } }, false],
  ['a time as text', { a: { kind: 'time', until: '5' } }, false],
  ['a time past the last date', { a: { kind: 'time', until: 8.64e15 + 1 } }, false],
  ['a time long ago', { a: { kind: 'time', until: -1e15 } }, true],
  ['a time before the first date', { a: { kind: 'time', until: -1e300 } }, false],
  ['the last date', { a: { kind: 'time', until: 8.64e15 } }, true],
  ['more than the server keeps of them', { a: { kind: 'more', text: 'x'.repeat(10_000) } }, false],
  ['a list', [{ kind: 'more' }], false],
])('%s: whether a round may wait so', (_what, waits, valid) => {
  expect(waitsOf(recordOf(waits)) !== undefined).toBe(valid);
});

test('a round goes on when the first of its waits is over, at a signal or with `more` at once', () => {
  const both = { a: sleep, b: { kind: 'time', until: T - 5 } } as const;
  expect(nextCheck(recordOf(both))).toBe(T - 5);
  expect([T - 6, T - 5].map((now) => isOver(recordOf(both), now))).toEqual([false, true]);
  expect(nextCheck({ ...recordOf(both), signalled: ['a'] })).toBe(0);
  // The record has no room for the names of all early signals.
  expect(nextCheck({ ...recordOf(both), early: 0 })).toBe(0);
  expect(isOver(recordOf({ c: { kind: 'more' } }), 0)).toBe(true);
  // DynamoDB refuses a smaller number than 1e-130.
  expect(nextCheck(recordOf({ a: { kind: 'time', until: 1e-300 } }))).toBe(1);
});

test('waits that are not valid, and none, are never over', () => {
  expect([isOver({ waits: '{' }, T), isOver({}, T)]).toEqual([false, false]);
});

test('clients read until when a task sleeps, and nothing of a tool that goes on at once', () => {
  expect(waitMessage(recordOf({ a: sleep }))).toBe('Sleeping until 2026-11-26T06:00:00Z');
  expect(waitMessage(recordOf({ a: { kind: 'more' } }))).toBeUndefined();
  const link = { kind: 'link', until: T + 60_000 } as const;
  expect(waitMessage(recordOf({ check: sleep, link }))).toBe('Waiting for link until 2026-11-26T06:01:00Z');
});
