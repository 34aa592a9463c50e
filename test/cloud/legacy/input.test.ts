import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  ended,
  FORMS,
  type Headers_,
  legacySession,
  modernRequest,
  type OpenStream,
  openStream,
  poll,
  post,
  type SseEvent,
} from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { follow as followOn, type Message, type Session } from './follow.ts';

const cloud = useCloud('brief');
const url = () => `${cloud().url}/mcp`;
const RELATED = 'io.modelcontextprotocol/related-task';
const YES = { action: 'accept', content: { ok: true } };
const NO = { action: 'accept', content: { ok: false } };

async function start(client: Session, name: string): Promise<string> {
  return (await client.request('tools/call', { name, task: {} })).body.result.task.taskId;
}

const follow = (client: Session, method: string, params: object, on: (question: Message) => unknown) =>
  followOn(url(), client, method, params, { on });

const respond = ({ headers }: { headers: Headers_ }, id: unknown, result: unknown) =>
  post(url(), { jsonrpc: '2.0', id, result }, headers);

async function collect({ events }: OpenStream): Promise<SseEvent[]> {
  const all: SseEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const executions = (taskId: string) =>
  cloud()
    .stepFunctions.executions()
    .flatMap(({ name }) => (name.startsWith(taskId) ? [name.slice(taskId.length)] : []));

describe.concurrent('a task that asks', () => {
  test('asks and continues on the tasks/result stream (B-14, B-19, C-16, C-17, C-20 to C-22)', async () => {
    const client = await legacySession(url());
    const taskId = await start(client, 'ask');
    await poll(url(), taskId, ({ status }) => status !== 'working');
    expect((await client.request('tasks/get', { taskId })).body.result.status).toBe('input_required');
    const { asked, answer } = await follow(client, 'tasks/result', { taskId }, async ({ id }) => {
      expect(await respond(client, id, YES)).toMatchObject({ status: 202, body: '' });
    });
    const params = expect.objectContaining({ message: 'Really?', _meta: { [RELATED]: { taskId } } });
    expect(asked).toEqual([{ jsonrpc: '2.0', id: expect.any(String), method: 'elicitation/create', params }]);
    const structuredContent = { answer: YES, requestState: { n: 9007199254740991 }, round: 2 };
    expect(answer.result).toMatchObject({ structuredContent, _meta: { [RELATED]: { taskId } } });
    expect(executions(taskId)).toEqual(['-r1', '-r2']);
  });

  test('asks two questions at once, and one of them twice, each with its own id (B-11, C-20)', async () => {
    const client = await legacySession(url());
    const run = async (name: string) =>
      follow(client, 'tasks/result', { taskId: await start(client, name) }, ({ id }) => respond(client, id, NO));
    const [two, twice] = await Promise.all([run('ask_two'), run('ask_twice')]);
    expect(two.asked.map(({ params }) => params.message).toSorted()).toEqual(['First?', 'Second?']);
    expect(two.answer.result.structuredContent).toEqual({ first: NO, second: NO });
    expect(twice.asked.map(({ params }) => params.message)).toEqual(['Once?', 'Twice?']);
    expect(twice.answer.result.structuredContent).toEqual({ last: NO });
    expect(new Set([...two.asked, ...twice.asked].map(({ id }) => id)).size).toBe(4);
  });

  test('asks first: the question comes before any work, the tool sees its answer at once (C-20)', async () => {
    const client = await legacySession(url());
    const taskId = await start(client, 'ask_first');
    expect(executions(taskId)).toEqual([]);
    const ada = { action: 'accept', content: { name: 'Ada' } };
    const { answer } = await follow(client, 'tasks/result', { taskId }, ({ id }) => respond(client, id, ada));
    expect(answer.result.structuredContent).toEqual({ who: ada, round: 2 });
  });

  test('is answered once when tasks/update and a posted response race (F-09, F-11)', async () => {
    const client = await legacySession(url());
    const taskId = await start(client, 'ask');
    const { answer } = await follow(client, 'tasks/result', { taskId }, async ({ id }) => {
      const update = { taskId, inputResponses: { 'r1.confirm': NO } };
      const [posted, updated] = await Promise.all([
        respond(client, id, YES),
        modernRequest(url(), 'tasks/update', update),
      ]);
      expect([posted.status, updated.body.result?.resultType]).toEqual([202, 'complete']);
    });
    const { answer: chosen, round } = answer.result.structuredContent;
    expect([YES, NO]).toContainEqual(chosen);
    expect([round, executions(taskId)]).toEqual([2, ['-r1', '-r2']]);
    expect((await poll(url(), taskId, ended)).result.structuredContent.answer).toEqual(chosen);
  });

  test.each(['ask', 'ask_first'])(
    'never asks a client that declared nothing: %s fails at once, and says why (B-17, C-21)',
    async (name) => {
      const client = await legacySession(url(), {});
      const taskId = await start(client, name);
      const task = await poll(url(), taskId, ({ status }) => status !== 'working');
      expect(task).toMatchObject({ status: 'failed', error: { data: { reason: 'InputNotSupported' } } });
      const { asked, answer } = await follow(client, 'tasks/result', { taskId }, () => {});
      expect(asked).toEqual([]);
      expect(answer.error).toEqual(task.error);
    },
  );
});

describe.concurrent('a call without a task that asks', () => {
  const all = { elicitation: { form: {}, url: {} }, sampling: {} };
  test.each([
    ['ask_optional', 'elicitation/create', YES, { requestedSchema: expect.anything() }],
    ['ask_url', 'elicitation/create', { action: 'accept' }, { mode: 'url', elicitationId: expect.any(String) }],
    [
      ...(['ask_model', 'sampling/createMessage'] as const),
      { role: 'assistant', model: 'm', content: { type: 'text', text: 'Roses' } },
      { maxTokens: 10 },
    ],
  ])(
    '%s: on its own stream; the window is not closed meanwhile (B-17, B-18, F-09)',
    async (name, method, given, params) => {
      const client = await legacySession(url(), all);
      const { asked, answer } = await follow(client, 'tools/call', { name }, async ({ id }) => {
        await sleep(1_500);
        await respond(client, id, given);
      });
      expect(asked).toMatchObject([{ method, params }]);
      expect(asked[0].params).not.toHaveProperty('_meta');
      expect(answer.result.structuredContent).toMatchObject({ answer: given });
      expect(answer.result).not.toHaveProperty('_meta');
    },
  );

  test('declined, or refused by an error: the tool sees it (B-18)', async () => {
    const client = await legacySession(url());
    const seen = [{ result: { action: 'decline' } }, { error: { code: -1, message: 'No' } }].map((no) =>
      follow(client, 'tools/call', { name: 'ask_optional' }, ({ id }) =>
        post(url(), { jsonrpc: '2.0', id, ...no }, client.headers),
      ),
    );
    const answers = (await Promise.all(seen)).map(({ answer }) => answer.result.structuredContent.answer);
    expect(answers).toEqual([{ action: 'decline' }, { action: 'cancel' }]);
  });

  test('gets an error if the client cannot be asked or takes no stream; nothing stays open (B-17)', async () => {
    const silent = await legacySession(url(), {});
    const { asked, answer } = await follow(silent, 'tools/call', { name: 'ask_optional' }, () => {});
    expect(asked).toEqual([]);
    expect(answer.error).toMatchObject({ code: -32603, data: { reason: 'InputNotSupported' } });
    const plain = await legacySession(url());
    const { body } = await plain.request('tools/call', { name: 'ask_optional' }, { accept: 'application/json' });
    expect(body.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('event-stream') }] });
    expect((await plain.request('tasks/list')).body.result.tasks).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('what the server gave a client to bring back', () => {
  test('is refused if changed or from another session, and reveals nothing (B-05, B-09, B-19)', async () => {
    const [client, other] = [await legacySession(url()), await legacySession(url(), FORMS)];
    const taskId = await start(client, 'ask');
    const body = { jsonrpc: '2.0', id: 'mine', method: 'tasks/result', params: { taskId } };
    let question = '';
    let eventId: string | undefined;
    const stream = await openStream(url(), body, client.headers);
    for await (const { id, data } of stream.events) {
      eventId = id;
      question = (data as Message).id ?? question;
      if (question !== '') break;
    }
    stream.close();
    const changed = (token = '') => token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const get = async (headers: Headers_, id?: string) =>
      (await openStream(url(), undefined, { ...headers, 'last-event-id': id }, 'GET')).status;
    expect([await get(client.headers, changed(eventId)), await get(other.headers, eventId)]).toEqual([405, 405]);
    expect(await get({ ...client.headers, 'mcp-protocol-version': '2026-07-28' }, eventId)).toBe(405);
    const refused = [await respond(client, changed(question), YES), await respond(other, question, YES)];
    expect(refused.map(({ status }) => status)).toEqual([400, 400]);
    expect(refused[1]?.body).toEqual(refused[0]?.body);
    const forged = { ...client.headers, 'mcp-session-id': changed(client.session) };
    expect((await client.request('ping', {}, forged)).status).toBe(404);
    expect((await poll(url(), taskId, ({ status }) => status !== 'working')).status).toBe('input_required');
    expect(await respond(client, question, YES)).toMatchObject({ status: 202 });
    expect((await poll(url(), taskId, ended)).result.structuredContent.answer).toEqual(YES);
  });

  test('is valid in any container, also after the one that asked has died (B-19, C-19, C-20)', async () => {
    const client = await legacySession(url());
    const taskId = await start(client, 'ask');
    const body = { jsonrpc: '2.0', id: 'mine', method: 'tasks/result', params: { taskId } };
    const events = await collect(await openStream(url(), body, client.headers));
    const question = events.find(({ data }) => data !== '')?.data as Message;
    const { functionName = '' } =
      cloud()
        .lambda.workers()
        .find((pool) => pool.functionName.includes('Endpoint')) ?? {};
    cloud().lambda.kill(functionName);
    expect(await respond(client, question.id, YES)).toMatchObject({ status: 202 });
    const headers = { ...client.headers, 'last-event-id': events.at(-1)?.id };
    const rest = await collect(await openStream(url(), undefined, headers, 'GET'));
    expect(rest.flatMap(({ data }) => data || [])).toEqual([
      expect.objectContaining({ id: 'mine', result: expect.objectContaining({ _meta: { [RELATED]: { taskId } } }) }),
    ]);
  });
});
