import { describe, expect, test } from 'vitest';
import type { Call } from '../../../../functions/mcp/context.ts';
import {
  openKey,
  openQuestionId,
  questionId,
  questionMessage,
  questionsFor,
  shortHash,
} from '../../../../functions/mcp/stream/questions.ts';
import { legacyWire } from '../../../../functions/mcp/wire/2025-11-25.ts';
import { modernWire } from '../../../../functions/mcp/wire/2026-07-28.ts';
import { withRefusal } from '../../../../functions/tasks/input.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { fakeServer, manifest } from '../support/fake-server.ts';

const { server } = fakeServer();
const form = { method: 'elicitation/create', params: { message: '?' } };
const roots = { method: 'roots/list' };
const asked = JSON.stringify({ inputRequests: { a: form, b: roots } });
const record = { taskId: 't', status: 'input_required', round: 1, asked } as TaskRecord;
const refusedOnce = (seen: TaskRecord, key: string) => ({ ...seen, refused: withRefusal(seen, key) });
const ann = { principal: { kind: 'verified', key: 'ann' } } as const;
const call = (accepts: string[]) => ({ ...ann, wire: legacyWire, accepts }) as unknown as Call;

describe('the id of a question (B-19)', () => {
  test('is the same on every stream, and another one after each refused answer', async () => {
    const first = await questionId(ann, record, 'r1.a', server);
    expect(await questionId(ann, refusedOnce(record, 'r1.b'), 'r1.a', server)).toBe(first);
    const second = await questionId(ann, refusedOnce(record, 'r1.a'), 'r1.a', server);
    const third = await questionId(ann, refusedOnce(refusedOnce(record, 'r1.a'), 'r1.a'), 'r1.a', server);
    expect(new Set([first, second, third]).size).toBe(3);
    const opened = await openQuestionId(ann, first, server);
    expect(opened).toMatchObject({ refusals: 0 });
    expect(await openQuestionId(ann, second, server)).toEqual({ ...opened, refusals: 1 });
  });

  test('finds its question while that is open', async () => {
    const id = await openQuestionId(ann, await questionId(ann, record, 'r1.b', server), server);
    expect(id?.taskId).toBe('t');
    expect(id && openKey(record, id)).toBe('r1.b');
    expect(id && openKey({ ...record, inputResponses: { 'r1.b': '{}' } }, id)).toBeUndefined();
  });

  test('opens for its caller only; no other text and no number opens', async () => {
    const id = await questionId(ann, record, 'r1.a', server);
    expect(await openQuestionId({ principal: { kind: 'verified', key: 'bob' } }, id, server)).toBeUndefined();
    for (const other of [7, null, '', 't.abc', `${id}x`]) {
      expect(await openQuestionId(ann, other, server)).toBeUndefined();
    }
  });
});

describe('the questions for a 2025-11-25 client are', () => {
  test('of the kinds that it declared, each with how often it was refused (B-17)', () => {
    const refused = refusedOnce(refusedOnce(record, 'r1.a'), 'r1.a');
    expect(questionsFor(refused, call(['elicitation/create', 'roots/list']))).toEqual([
      { key: 'r1.a', request: form, askedAs: shortHash('r1.a#2', 8) },
      { key: 'r1.b', request: roots, askedAs: shortHash('r1.b#0', 8) },
    ]);
    expect(questionsFor(record, call(['roots/list'])).map(({ key }) => key)).toEqual(['r1.b']);
  });

  test('none in 2026-07-28, where they are answers', () => {
    const modern = { ...call(['elicitation/create']), wire: modernWire(manifest.serverInfo) };
    expect(questionsFor(record, modern)).toEqual([]);
  });

  test('requests, with their task for a client that knows it (C-21)', async () => {
    const [question] = questionsFor(record, call(['elicitation/create']));
    if (question === undefined) throw new Error('there is no question');
    const message = (related: boolean) => questionMessage(question, record, related, call([]), server);
    const id = await questionId(ann, record, 'r1.a', server);
    expect(await message(false)).toEqual({ jsonrpc: '2.0', id, ...form });
    expect(await message(true)).toMatchObject({ params: { _meta: { [RELATED]: { taskId: 't' } } } });
  });
});

const RELATED = 'io.modelcontextprotocol/related-task';
