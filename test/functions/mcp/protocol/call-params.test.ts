import { describe, expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import {
  callDigest,
  canonicalJson,
  idempotencyKeyOf,
  inputResponsesOf,
  progressTokenOf,
  traceparentOf,
} from '../../../../functions/mcp/protocol/call-params.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { limits } from '../../../../functions/tasks/limits.ts';

const callOf = (params: object) => ({ method: 'tools/call', params }) as unknown as Call;

describe('the answers of a call (D-25)', () => {
  const of = (inputResponses?: unknown) => inputResponsesOf(callOf({ inputResponses }));

  test('are objects by key, or none', () => {
    expect(of()).toEqual({});
    expect(of({ a: { b: 1 } })).toEqual({ a: { b: 1 } });
  });

  test.each([
    [[], 'inputResponses must be an object'],
    ['x', 'inputResponses must be an object'],
    [{ a: {}, b: [] }, `inputResponses['b'] must be an object`],
    [{ ['k'.repeat(101)]: 1 }, `inputResponses['${'k'.repeat(100)}'] must be an object`],
  ])('are refused otherwise, by name: %.20j', (responses, message) => {
    expect(() => of(responses)).toThrow(message);
  });

  test('take 32,000 bytes at most', () => {
    const sized = (bytes: number) => ({ a: { b: 'é'.repeat((bytes - 14) / 2) } });
    expect(Buffer.byteLength(JSON.stringify(sized(32_000)))).toBe(32_000);
    expect(() => of(sized(32_000))).not.toThrow();
    expect(() => of(sized(32_002))).toThrow('inputResponses may take 32000 bytes at most');
  });
});

describe('two calls are the same', () => {
  test('with their members in any order, and not when a value differs', () => {
    const a = canonicalJson({ b: [1, { d: 'x', c: null }], a: {} });
    expect(a).toBe('{"a":{},"b":[1,{"c":null,"d":"x"}]}');
    expect(canonicalJson({ a: {}, b: [1, { c: null, d: 'x' }] })).toBe(a);
  });

  test('if they name no arguments, or none', () => {
    expect(callDigest(callOf({ name: 'x' }))).toBe(callDigest(callOf({ name: 'x', arguments: {} })));
    // Stored with tasks: another digest would refuse a repeated call after a deployment.
    expect(callDigest(callOf({ name: 'x' }))).toBe('qU9QsCKjE4wmelG7AD9MScUWlkhNyoKNtbP5nTP_KDE');
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
  ['€'.repeat(42), '€'.repeat(42)],
  ['€'.repeat(43), undefined],
])('a progress token is a text of some length or an integer (A-22): %s', (progressToken, expected) => {
  expect(progressTokenOf({ params: { _meta: { progressToken } } })).toBe(expected);
  expect(progressTokenOf({ params: { _meta: 'x' } } as unknown as Call)).toBeUndefined();
});

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

const META = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const HEADER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
const tracedCall = (meta: unknown, header?: string) => ({
  params: { ...(meta !== undefined && { _meta: meta }) },
  request: { method: 'POST', headers: header === undefined ? {} : { traceparent: header }, body: '' },
});

test.each<[string, unknown, string | undefined, string | undefined]>([
  ['the one in _meta', { traceparent: META }, undefined, META],
  ['the header', undefined, HEADER, HEADER],
  ['_meta before the header, which a proxy may have set', { traceparent: META }, HEADER, META],
  ['the header if the one in _meta is not valid', { traceparent: 'x' }, HEADER, HEADER],
  ['none', {}, undefined, undefined],
  ['none of a _meta that is no object', 'text', undefined, undefined],
  ['none that is no text', { traceparent: [META] }, undefined, undefined],
  ['no trace id of zeros', { traceparent: META.replace(/-\w{32}-/, `-${'0'.repeat(32)}-`) }, undefined, undefined],
  ['no parent id of zeros', { traceparent: META.replace(/-\w{16}-/, `-${'0'.repeat(16)}-`) }, undefined, undefined],
  ['no version ff', { traceparent: META.replace('00', 'ff') }, undefined, undefined],
  ['nothing behind it', { traceparent: `${META}-x` }, undefined, undefined],
  ['no capitals', { traceparent: META.toUpperCase() }, undefined, undefined],
])('a call belongs to the trace: %s', (_title, meta, header, expected) => {
  expect(traceparentOf(tracedCall(meta, header) as never)).toBe(expected);
});
