import { describe, expect, test } from 'vitest';
import { form, legacyServer, ok, RELATED, sure, two, YES } from '../support/legacy-server.ts';

const link = { method: 'elicitation/create', params: { mode: 'url', message: 'Go', url: 'https://a.example/' } };
const own = { ...link, params: { ...link.params, elicitationId: 'mine' } };
const prompt = { messages: [{ role: 'user', content: { type: 'text', text: 'A poem' } }], maxTokens: 10 };
const poem = { method: 'sampling/createMessage', params: prompt };
const roots = { method: 'roots/list' };

describe('a question', () => {
  test('comes on the tasks/result stream with its task, which continues there (B-19, C-20 to C-22)', async () => {
    const { session, did } = legacyServer(sure);
    const client = await session();
    const taskId = await client.create();
    const accepted: unknown[] = [];
    const { messages } = await client.request('tasks/result', { taskId }, async ({ id, method }) => {
      if (method !== undefined) accepted.push(await client.respond(id, YES));
    });
    expect(accepted).toMatchObject([{ status: 202, messages: [] }]);
    expect(messages[0]).toEqual({
      jsonrpc: '2.0',
      id: expect.stringMatching(/^\S{40,}$/),
      method: 'elicitation/create',
      params: { message: 'Sure?', requestedSchema: ok, _meta: { [RELATED]: { taskId } } },
    });
    expect(messages[1]).toMatchObject({ id: 'q2', result: { structuredContent: { sure: YES } } });
    expect(messages[1].result._meta).toEqual({ [RELATED]: { taskId } });
    expect(did.filter((what) => what === 'start')).toHaveLength(2);
  });

  test('that is over stands in no event id any more: they do not grow with the rounds (C-19)', async () => {
    const client = await legacyServer(sure, two, sure).session();
    const { messages, eventIds } = await client.settle(await client.create(), YES);
    expect(messages).toHaveLength(5);
    // Beside the task's own id, which names the session here, and five characters for each question.
    const lengths = eventIds.map((id) => id.length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(Math.min(...lengths) + 2 * 5 + 2);
    expect(lengths.at(-1)).toBeLessThanOrEqual((lengths[0] ?? 0) + 5 + 2);
  });

  test('of a call without a task comes on the stream of the call, and names no task (B-17)', async () => {
    const client = await legacyServer(sure).session();
    const { messages } = await client.request('tools/call', { name: 'optional' }, ({ id, method }) =>
      method === undefined ? undefined : client.respond(id, YES),
    );
    expect(messages).toMatchObject([
      { method: 'elicitation/create' },
      { result: { structuredContent: { sure: YES } } },
    ]);
    expect(messages[0].params).toEqual({ message: 'Sure?', requestedSchema: ok });
  });

  test('of a call in a 2025-06-18 session (no tasks) comes the same way (B-17, B-21, C-03)', async () => {
    const client = await legacyServer(sure).session({ elicitation: {} }, '2025-06-18');
    const { messages } = await client.request('tools/call', { name: 'optional', task: {} }, ({ id, method }) =>
      method === undefined ? undefined : client.respond(id, YES),
    );
    expect(messages).toMatchObject([
      { method: 'elicitation/create' },
      { result: { structuredContent: { sure: YES } } },
    ]);
    expect(JSON.stringify(messages)).not.toContain(RELATED);
  });

  test.each([
    ['a form', form('Sure?'), YES],
    ['a link, which has an elicitationId here', link, { action: 'accept' }],
    ["a link with the tool's own elicitationId", own, { action: 'accept' }],
    ['a sampling', poem, { role: 'assistant', model: 'm', content: { type: 'text', text: 'Roses' } }],
    ['a list of roots', roots, { roots: [{ uri: 'file:///home' }] }],
  ])(
    'may be %s: sent as the tool wrote it, answered as the client did (B-18, C-21, F-09)',
    async (_kind, it, given) => {
      const client = await legacyServer({ it }).session();
      const taskId = await client.create();
      const { messages } = await client.settle(taskId, given);
      const elicitationId = it === link && { elicitationId: expect.stringContaining(taskId) };
      const params = 'params' in it ? it.params : {};
      expect(messages).toMatchObject([{ method: it.method }, { result: { structuredContent: { it: given } } }]);
      expect(messages[0].params).toEqual({ ...params, ...elicitationId, _meta: { [RELATED]: { taskId } } });
    },
  );

  test.each([
    [{}, []],
    [{ elicitation: {} }, ['Sure?']],
    [{ elicitation: { form: {} } }, ['Sure?']],
    [{ elicitation: { url: {} } }, ['Go']],
    [{ sampling: {}, roots: { listChanged: true } }, ['sampling/createMessage', 'roots/list']],
  ])('is only of the kinds the client declared: %o (B-17, B-18, C-21)', async (capabilities, expected) => {
    const client = await legacyServer({ form: form('Sure?'), link, poem, roots }).session(capabilities);
    const { messages } = await client.request('tasks/result', { taskId: await client.create() });
    expect(messages.map(({ method, params }) => params.message ?? method)).toEqual(expected);
  });

  test('is asked once on a stream, and not again where that one is resumed (B-09, B-11)', async () => {
    const { session } = legacyServer(two);
    const client = await session();
    const ids: string[] = [];
    const first = await client.request('tasks/result', { taskId: await client.create() });
    expect(first.messages.map(({ params }) => params.message)).toEqual(['First?', 'Second?']);
    const [, afterFirst = '', afterBoth = ''] = first.eventIds;
    expect((await client.resume(afterBoth)).messages).toEqual([]);
    const again = await client.resume(afterFirst);
    expect(again.messages.map(({ params }) => params.message)).toEqual(['Second?']);
    ids.push(...first.messages.map(({ id }) => id), again.messages[0].id);
    expect(new Set(ids).size).toBe(2);
  });

  test('has one id on every stream while it is open; after a refused answer another (B-11, B-19)', async () => {
    const client = await legacyServer(two).session();
    const taskId = await client.create();
    const streams = await Promise.all([1, 2].map(() => client.request('tasks/result', { taskId })));
    const ids = streams.flatMap(({ messages }) => messages.map(({ id }) => id));
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(2);
    await client.respond(ids[0], { action: 'accept', content: { ok: 'perhaps' } });
    const { messages } = await client.request('tasks/result', { taskId });
    expect(messages[0].id).not.toBe(ids[0]);
    expect(messages[1].id).toBe(ids[1]);
  });

  test('is asked again after an answer of more than 32 KB, which is refused (B-19)', async () => {
    const client = await legacyServer(sure).session();
    const taskId = await client.create();
    const { messages } = await client.request('tasks/result', { taskId });
    const large = { action: 'accept', content: { sure: true, why: 'x'.repeat(32_000) } };
    const refused = await client.respond(messages[0].id, large);
    expect(refused).toMatchObject({ status: 400 });
    expect(JSON.stringify(refused)).toContain('result may take 32000 bytes at most');
    const again = await client.request('tasks/result', { taskId });
    expect(again.messages[0].params).toEqual(messages[0].params);
  });

  test('of the next round comes on the same stream, once the first is answered (C-20, C-22)', async () => {
    const { session } = legacyServer(sure, { more: form('Quite?') });
    const client = await session();
    const { messages } = await client.settle(await client.create(), YES);
    expect(messages.map(({ params }) => params?.message)).toEqual(['Sure?', 'Quite?', undefined]);
    expect(messages[2].result.structuredContent).toEqual({ sure: YES, more: YES });
  });
});
