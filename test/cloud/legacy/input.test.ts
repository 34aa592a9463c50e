import { describe, expect, test } from 'vitest';
import {
  ended,
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
});

test('a question is answered in any container, also if its asker has died (B-19, C-19, C-20)', async () => {
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
