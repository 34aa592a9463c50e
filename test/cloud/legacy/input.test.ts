import { expect, test } from 'vitest';
import {
  type Headers_,
  legacySession,
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

test('a task asks and continues on the tasks/result stream (B-19, C-16, C-17, C-20 to C-22)', async () => {
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
