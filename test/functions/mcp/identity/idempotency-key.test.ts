import { expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import { idempotencyKeyOf } from '../../../../functions/mcp/identity/idempotency-key.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';

const verified: Principal = { kind: 'verified', key: 'o' };
const keyOf = (named?: unknown, header?: string, principal: Principal = verified, _meta?: unknown) =>
  idempotencyKeyOf({
    ...{ principal, params: { _meta: _meta ?? { 'mcp-task-server/idempotencyKey': named } } },
    request: { headers: { ...(header !== undefined && { 'idempotency-key': header }) } },
  } as unknown as Call);

test('an idempotency key is in _meta, or in a header where _meta has none', () => {
  expect(keyOf()).toBeUndefined();
  expect(keyOf('a')).toBe('a');
  expect(keyOf(undefined, 'b')).toBe('b');
  expect(keyOf('a', 'b')).toBe('a');
  expect(keyOf(undefined, 'b', verified, 'no object')).toBe('b');
});

const LONG = 'The idempotency key is a string of 1 to 255 characters';

test.each([
  ['', LONG],
  [5, LONG],
  [null, undefined],
  ['x'.repeat(255), undefined],
  ['x'.repeat(256), LONG],
])('a key is text of 1 to 255 characters: %.20j', (key, message) => {
  if (message === undefined) expect(() => keyOf(key)).not.toThrow();
  else expect(() => keyOf(key)).toThrow(message);
});

test('where the key alone stands for the caller it is as long as a random UUID (F-15)', () => {
  const message = 'Without a session an idempotency key has at least 32 characters: use a random UUID';
  const of = (length: number, principal: Principal) => keyOf('x'.repeat(length), undefined, principal);
  expect(() => of(31, { kind: 'anonymous' })).toThrow(message);
  expect(of(32, { kind: 'anonymous' })).toHaveLength(32);
  expect(of(1, { kind: 'anonymous', session: 's' })).toBe('x');
});
