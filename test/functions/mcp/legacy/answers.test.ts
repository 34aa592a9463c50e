import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { allRefusals } from '../../../../functions/tasks/input.ts';
import { legacyServer, sure, two, YES } from '../support/legacy-server.ts';
import { type Message, modernCall } from '../support/posted.ts';

/** A server of one round of questions, and sessions that answer each question as a test wants. */
function setup(questions: object = sure) {
  const here = legacyServer(questions);
  async function session() {
    const client = await here.session();
    const respond = (to: unknown, answer: object) => client.post({ jsonrpc: '2.0', id: to, ...answer });
    return {
      ...{ ...client, respond },
      /** Waits for the result and answers the questions. Returns all that came, and the replies to the answers. */
      async settle(taskId: string, answers: (question: Message) => readonly object[]) {
        const replies: { status: number; answer: Message }[] = [];
        const { asked, last } = await client.request('tasks/result', { taskId }, async (message) => {
          for (const answer of message.method ? answers(message) : []) replies.push(await respond(message.id, answer));
        });
        return { asked, replies, answer: last };
      },
    };
  }
  const modern = (method: string, params: Record<string, unknown>) => modernCall(here.server, method, params);
  return { ...here, session, modern };
}

const NO = { action: 'accept', content: { ok: false } };
const prompt = { messages: [{ role: 'user', content: { type: 'text', text: 'A poem' } }], maxTokens: 10 };
const result = (value: unknown) => ({ result: value });
const refusal = { error: { code: -1, message: 'User said no' } };

describe('an answer', () => {
  test.each([
    [null],
    ['yes'],
    [[]],
    [{}],
    [{ action: 'maybe' }],
    [{ action: 'accept' }],
    [{ action: 'accept', content: { ok: 'yes' } }],
  ])('that is not valid is refused with 400, and asked for again with another id: %o (B-19)', async (wrong) => {
    const { session, did } = setup();
    const client = await session();
    const given = [result(wrong), result(YES)];
    const { asked, replies, answer } = await client.settle(await client.create(), () => given.splice(0, 1));
    expect(replies).toMatchObject([{ status: 400, answer: { error: { code: -32602 } } }, { status: 202 }]);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(2);
    expect(asked[1].params).toEqual(asked[0].params);
    expect(answer.result).toMatchObject({ structuredContent: { sure: YES } });
    expect(did.filter((what) => what === 'start')).toHaveLength(2);
  });

  test('that is not valid counts beside another at the same moment: both are asked again (B-19)', async () => {
    const { session, records } = setup(two);
    const client = await session();
    const taskId = await client.create();
    const first: unknown[] = [];
    const { asked } = await client.settle(taskId, ({ id }) => {
      if (first.push(id) === 2) void Promise.all(first.map((one) => client.respond(one, result('?'))));
      return first.length > 2 ? [result(YES)] : [];
    });
    expect(new Set(asked.map(({ id }) => id)).size).toBe(4);
    expect(records.get(taskId)?.status).toBe('completed');
  });

  test('that is not valid counts once, also if it comes again or its write is repeated (B-19)', async () => {
    const { session, records, change, server } = setup();
    const client = await session();
    const taskId = await client.create();
    const { apply } = server.store;
    // The AWS client repeats a write whose answer was lost.
    server.store.apply = async (record, written) => {
      const first = await apply(record, written);
      return written.set.refused === undefined ? first : apply(record, written);
    };
    await client.settle(taskId, ({ id }) => {
      const same = [1, 2, 3, 4, 5].map(() => client.respond(id, result('?')));
      void Promise.all(same).then(() => change(taskId, { status: 'cancelled' }));
      return [];
    });
    expect(allRefusals(records.get(taskId)?.refused ?? {})).toBe(1);
  });

  test('to one of two questions leaves the other open; the tool gets both (B-19, C-22)', async () => {
    const { session, records } = setup(two);
    const client = await session();
    const taskId = await client.create();
    const ids: Record<string, unknown> = {};
    const { answer } = await client.settle(taskId, ({ id, params }) => {
      ids[params.message] = id;
      return [];
    });
    expect(answer.method).toBe('elicitation/create');
    expect(await client.respond(ids['Second?'], result(NO))).toMatchObject({ status: 202 });
    expect(records.get(taskId)?.status).toBe('input_required');
    expect(await client.respond(ids['First?'], result(YES))).toMatchObject({ status: 202 });
    const { answer: done } = await client.settle(taskId, () => []);
    expect(done.result.structuredContent).toEqual({ first: YES, second: NO });
  });

  test.each([
    ['declined', result({ action: 'decline' }), { action: 'decline' }],
    ['cancelled', result({ action: 'cancel' }), { action: 'cancel' }],
    ['refused by an error: the same as cancelled', refusal, { action: 'cancel' }],
  ])('may say no: %s (B-18, B-19)', async (_how, given, seen) => {
    const client = await setup().session();
    const { replies, answer } = await client.settle(await client.create(), () => [given]);
    expect(replies).toMatchObject([{ status: 202 }]);
    expect(answer.result.structuredContent).toEqual({ sure: seen });
  });

  test('that is an error to anything but an elicitation fails the task with a reason (B-19, C-30)', async () => {
    const client = await setup({ poem: { method: 'sampling/createMessage', params: prompt } }).session();
    const { replies, answer } = await client.settle(await client.create(), () => [refusal]);
    expect(replies).toMatchObject([{ status: 202 }]);
    expect(answer.error).toEqual({ code: -32603, message: 'The client refused sampling/createMessage' });
  });

  test('with an integer that would be rounded is not valid, and is asked for again (B-19)', async () => {
    const requestedSchema = { type: 'object', properties: { age: { type: 'integer' } } };
    const { session } = setup({ age: { method: 'elicitation/create', params: { message: 'Age?', requestedSchema } } });
    const client = await session();
    const given = [2 ** 53, 7].map((age) => result({ action: 'accept', content: { age } }));
    const { asked, replies, answer } = await client.settle(await client.create(), () => given.splice(0, 1));
    const message = expect.stringMatching(/^result\.content\.age is an integer beyond 2\^53 - 1/);
    expect(replies).toMatchObject([{ status: 400, answer: { error: { code: -32602, message } } }, { status: 202 }]);
    expect(asked).toHaveLength(2);
    expect(answer.result.structuredContent).toEqual({ age: { action: 'accept', content: { age: 7 } } });
  });

  test('after the end is accepted and ignored (B-19, F-09)', async () => {
    const { session, records, change, did } = setup();
    const client = await session();
    const taskId = await client.create();
    const { asked, replies } = await client.settle(taskId, () => [result(YES), result(NO), refusal, result('?')]);
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    for (const status of ['completed', 'cancelled', 'failed'] as const) {
      change(taskId, { status });
      const before = records.get(taskId);
      expect(await client.respond(asked[0].id, result(NO))).toMatchObject({ status: 202, messages: [] });
      expect(records.get(taskId)).toEqual(before);
    }
    expect(did.filter((what) => what === 'start')).toHaveLength(2);
  });

  test('to an unknown question or one of another session is refused alike, reveals nothing (B-19)', async () => {
    const { session, records, server } = setup();
    const [client, other] = [await session(), await session()];
    const taskId = await client.create();
    const { asked, eventIds } = await client.request('tasks/result', { taskId });
    const id: string = asked[0].id;
    const [, mark, refused, keyId, mac] = id.split('.');
    const payload = `${taskId}.${mark}.${refused}`;
    const flipped = id.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A'));
    const forged = `${taskId}.AAAAAAAA.0.${keyId}.${mac}`;
    const foreign = await server.signer.sign('question:someone', payload);
    const sealed = await server.signer.seal('question:someone', { taskId, key: 'r1.sure' });
    const strangers = [undefined, null, 5, '', 'x', payload, flipped, forged, `${id}.${mac}`, foreign, sealed];
    const before = records.get(taskId);
    const seen = new Set<string>();
    for (const stranger of [...strangers, taskId, eventIds[0], client.headers['mcp-session-id']]) {
      const { status, answer } = await client.respond(stranger, result(YES));
      seen.add(`${status} ${JSON.stringify(answer)}`);
    }
    const { status, answer } = await other.respond(id, result(YES));
    seen.add(`${status} ${JSON.stringify(answer)}`);
    expect([...seen]).toEqual([expect.stringMatching(/^400 .*-32600/)]);
    expect(records.get(taskId)).toEqual(before);
    expect(await client.respond(id, result(YES))).toMatchObject({ status: 202 });
  });
});

describe('an answer and a fault of the server', () => {
  beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
  afterEach(() => void vi.restoreAllMocks());

  test('an answer that could not be kept is not accepted; repeated, it is (A-15, B-19)', async () => {
    const { session, server, records } = setup();
    const client = await session();
    const taskId = await client.create();
    const { asked } = await client.request('tasks/result', { taskId });
    const { apply } = server.store;
    server.store.apply = () => Promise.reject(new Error('throttled'));
    const { status, answer } = await client.respond(asked[0].id, result(YES));
    server.store.apply = apply;
    expect(JSON.stringify(answer)).not.toContain('throttled');
    expect(status).toBeGreaterThanOrEqual(400);
    expect(records.get(taskId)?.status).toBe('input_required');
    expect(await client.respond(asked[0].id, result(YES))).toMatchObject({ status: 202 });
  });

  test('an answer that was kept without restarting the work restarts it when repeated (B-19, C-22)', async () => {
    const { session, server, records } = setup();
    const client = await session();
    const taskId = await client.create();
    const { asked } = await client.request('tasks/result', { taskId });
    const { start } = server.workflow;
    server.workflow.start = () => Promise.reject(new Error('throttled'));
    await client.respond(asked[0].id, result(YES));
    server.workflow.start = start;
    expect(records.get(taskId)).toMatchObject({ status: 'working', round: 2 });
    expect(await client.respond(asked[0].id, result(YES))).toMatchObject({ status: 202 });
    expect(records.get(taskId)).toMatchObject({ status: 'completed' });
  });
});

describe('one set of questions for both revisions', () => {
  const update = (taskId: string, ok: boolean) => ({
    ...{ taskId, inputResponses: { 'r1.sure': { action: 'accept', content: { ok } } } },
  });

  test('posted, then by tasks/update: the first counts, the second is acknowledged (F-01, F-09)', async () => {
    const { session, modern } = setup();
    const client = await session();
    const taskId = await client.create();
    const { asked } = await client.request('tasks/result', { taskId });
    const shown = await modern('tasks/get', { taskId });
    expect(shown.answer.result).toMatchObject({ status: 'input_required', inputRequests: { 'r1.sure': sure.sure } });
    expect(await client.respond(asked[0].id, result(YES))).toMatchObject({ status: 202 });
    expect((await modern('tasks/update', update(taskId, false))).answer.result.resultType).toBe('complete');
    const { answer } = await client.settle(taskId, () => []);
    expect(answer.result.structuredContent).toEqual({ sure: YES });
  });

  test('by tasks/update, then posted: the stream continues with the first (F-01, F-09)', async () => {
    const { session, modern } = setup();
    const client = await session();
    const taskId = await client.create();
    const replies: number[] = [];
    const { messages } = await client.request('tasks/result', { taskId }, async ({ id, method }) => {
      if (method === undefined) return;
      await modern('tasks/update', update(taskId, false));
      replies.push((await client.respond(id, result(YES))).status);
    });
    expect(replies).toEqual([202]);
    expect(messages).toMatchObject([{ method: 'elicitation/create' }, { result: { structuredContent: { sure: NO } } }]);
  });

  test('a 2026-07-28 task also asks on the tasks/result stream of a session (F-05, F-09)', async () => {
    const { session, modern } = setup();
    const client = await session();
    const made = await modern('tools/call', { name: 'optional' });
    const { asked, answer } = await client.settle(made.answer.result.taskId, () => [result(YES)]);
    expect(asked).toMatchObject([{ method: 'elicitation/create' }]);
    expect(answer.result.structuredContent).toEqual({ sure: YES });
    const read = await modern('tasks/get', { taskId: made.answer.result.taskId });
    expect(read.answer.result).toMatchObject({ status: 'completed', result: { structuredContent: { sure: YES } } });
  });
});
