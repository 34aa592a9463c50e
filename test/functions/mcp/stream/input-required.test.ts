import { describe, expect, test } from 'vitest';
import type { Call, ModernCall } from '../../../../functions/mcp/context.ts';
import {
  askDirectly,
  checkDeclared,
  inputRequired,
  openState,
  questionsIn,
  sealState,
} from '../../../../functions/mcp/stream/input-required.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import type { Principal } from '../../../../functions/tasks/ids.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { create } from '../../../../functions/tasks/transitions/begin.ts';
import { fakeServer } from '../support/fake-server.ts';

const roots = { method: 'roots/list' };
const callOf = (accepts: string[], params: object = {}) =>
  ({
    ...{
      wire: modernWire({ name: 'n', version: '1' }),
      method: 'tools/call',
      params: { name: 'x', ...params },
      accepts,
    },
    principal: { kind: 'verified', key: 'owner#a' },
  }) as unknown as ModernCall;
const able = callOf(['roots/list']);

describe('a call that is answered with questions (D-20)', () => {
  const { server } = fakeServer();
  const task = { tool: 'x', ttl: 60_000, timeout: 60_000, accepts: [], legacy: false };
  const record = create({ owner: 'owner#a', taskId: 't' }, task, 0);
  const asked = JSON.stringify({ inputRequests: { a: roots } });
  const waiting: TaskRecord = { ...record, status: 'input_required', asked };
  const stateOf = (answer: object) =>
    openState(callOf([], { requestState: (answer as { requestState: string }).requestState }), server);

  test('names the task that asks, sealed', async () => {
    const answer = await inputRequired(able, waiting, server);
    expect(answer).toMatchObject({ resultType: 'input_required', inputRequests: { 'r1.a': roots } });
    expect(await stateOf(answer)).toMatchObject({ taskId: 't' });
  });

  test('of a direct tool carries its state, if it has any (D-21, D-24)', async () => {
    const answer = await askDirectly(able, { a: roots }, { n: 1 }, server);
    expect(answer).toMatchObject({ resultType: 'input_required', inputRequests: { a: roots } });
    expect(await stateOf(answer)).toMatchObject({ tool: { n: 1 } });
    expect(await askDirectly(able, { a: roots }, undefined, server)).not.toHaveProperty('requestState');
  });

  test('is refused where the client did not declare one of them (D-22)', async () => {
    const message = 'Tool x asks for input: declare the capability roots';
    expect(() => checkDeclared(callOf(['sampling/createMessage']), { a: roots })).toThrow(message);
    await expect(askDirectly(callOf([]), { a: roots }, undefined, server)).rejects.toThrow(message);
    await expect(inputRequired(callOf([]), waiting, server)).rejects.toThrow(message);
    expect(() => checkDeclared(able, { a: roots })).not.toThrow();
  });
});

describe('what a function returned', () => {
  test.each([[undefined], [null], ['inputRequests'], [{}], [{ content: [] }]])('is no question: %j', (value) => {
    expect(questionsIn(value)).toBeUndefined();
  });

  test('is its questions, and its state', () => {
    const inputRequests = { a: roots };
    expect(questionsIn({ inputRequests })).toEqual({ questions: inputRequests });
    expect(questionsIn({ inputRequests, requestState: 1 })).toEqual({ questions: inputRequests, state: 1 });
  });

  const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

  test.each<[string, object]>([
    ['none', { inputRequests: {} }],
    ['a list', { inputRequests: [roots] }],
    ['nothing', { inputRequests: undefined }],
    ['one that is none', { inputRequests: { a: roots, b: 5 } }],
    ['under a name that no task can keep', { inputRequests: { ['a'.repeat(129)]: roots } }],
    ['a state that is nested too deep', { inputRequests: { a: roots }, requestState: nested(501) }],
  ])('is an error of the tool if it asks %s', (_title, value) => {
    expect(() => questionsIn(value)).toThrow('The tool asked for input in a form that is not valid');
  });

  test('may have a state of 500 levels', () => {
    expect(questionsIn({ inputRequests: { a: roots }, requestState: nested(500) })).toBeDefined();
  });
});

const verified: Principal = { kind: 'verified', key: 'owner#a' };
const calling = (params: object, method = 'tools/call', principal: Principal = verified) =>
  ({ method, params, principal }) as unknown as Call;

describe('a sealed state', () => {
  const clock = { now: 1_700_000_000_000 };
  const { server, audited } = fakeServer({ now: () => clock.now });
  const seal = () => sealState(calling({ name: 'x', arguments: { a: 1 } }), { taskId: 't' }, server);
  const open = (
    requestState: unknown,
    params: object = {},
    more: Parameters<typeof calling> extends [object, ...infer R] ? R : never = [],
  ) => openState(calling({ name: 'x', arguments: { a: 1 }, requestState, ...params }, ...more), server);

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

  test.each([[5], [null], ['x'], [['a']]])('is text that this server made: %j is refused (D-23)', async (state) => {
    await expect(open(state)).rejects.toThrow('requestState is not valid for this request');
  });
});
