import { describe, expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import {
  callDigest,
  canonicalJson,
  inputResponsesOf,
  openState,
  sealState,
} from '../../../../functions/mcp/identity/request-state.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import { fakeServer } from '../support/fake-server.ts';

const verified: Principal = { kind: 'verified', key: 'owner#a' };
const callOf = (params: object, method = 'tools/call', principal: Principal = verified) =>
  ({ method, params, principal }) as unknown as Call;

describe('a sealed state', () => {
  const clock = { now: 1_700_000_000_000 };
  const { server, audited } = fakeServer({ now: () => clock.now });
  const seal = () => sealState(callOf({ name: 'x', arguments: { a: 1 } }), { taskId: 't' }, server);
  const open = (
    requestState: unknown,
    params: object = {},
    more: Parameters<typeof callOf> extends [object, ...infer R] ? R : never = [],
  ) => openState(callOf({ name: 'x', arguments: { a: 1 }, requestState, ...params }, ...more), server);

  test('opens for the same call of the same caller, for an hour, and is new each time (D-22, D-23)', async () => {
    const state = await seal();
    expect(await open(state)).toMatchObject({ taskId: 't' });
    expect(await seal()).not.toBe(state);
    clock.now += 3_599_999;
    expect(await open(state)).toMatchObject({ taskId: 't' });
    clock.now += 1;
    await expect(open(state)).rejects.toThrow('requestState is not valid for this request');
  });

  test('is text, and no list of one', async () => {
    await expect(open([await seal()])).rejects.toThrow('requestState is not valid for this request');
  });

  test('is not needed (D-24)', async () => {
    expect(await open(undefined)).toBeUndefined();
  });

  test.each<[string, Parameters<typeof open>[1], Parameters<typeof open>[2]]>([
    ['another tool', { name: 'y' }, []],
    ['other arguments', { arguments: { a: 2 } }, []],
    ['another method', {}, ['prompts/get']],
    ['another caller', {}, ['tools/call', { kind: 'verified', key: 'owner#b' }]],
  ])('does not open for %s, and that is audited (D-23)', async (_title, params, more) => {
    const state = await seal();
    audited.splice(0);
    await expect(open(state, params, more)).rejects.toMatchObject({ code: -32602 });
    const owner = more?.[1]?.kind === 'verified' ? 'owner#b' : 'owner#a';
    expect(audited.map((line) => JSON.parse(line))).toEqual([
      { event: 'audit', action: 'denied', owner, reason: 'request_state' },
    ]);
  });

  test.each([[5], [null], ['x'], [['a']]])('is text of ours: %j is refused (D-23)', async (state) => {
    await expect(open(state)).rejects.toThrow('requestState is not valid for this request');
  });
});

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
