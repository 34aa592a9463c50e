import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  ended,
  FORMS,
  type ModernOptions,
  modernMessage,
  modernRequest,
  type OpenStream,
  openStream,
  poll,
  post,
  TASKS,
} from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const yes = { action: 'accept', content: { ok: true } };
const executions = (since: number) => cloud().stepFunctions.executions().slice(since);
const count = () => executions(0).length;

const call = async (name: string, more: object = {}, capabilities: object = FORMS): Promise<Answer['body']> =>
  (await modernRequest(url(), 'tools/call', { name, ...more }, { capabilities })).body;

/** A call of `steps` as a stream, with its progress. */
function steps(count: number, options: ModernOptions = { capabilities: FORMS }) {
  const { body, headers } = modernMessage('tools/call', { name: 'steps', arguments: { steps: count } }, options);
  const _meta = { ...body.params._meta, progressToken: 'p' };
  return openStream(url(), { ...body, params: { ...body.params, _meta } }, headers);
}

async function all(opening: Promise<OpenStream>): Promise<Answer['body'][]> {
  const messages: Answer['body'][] = [];
  for await (const { id, data } of (await opening).events) {
    expect(id).toBeUndefined();
    messages.push(data);
  }
  return messages;
}

test('a client that closes the stream of its call gets its result under its key (X-32)', async () => {
  const before = count();
  const headers = { 'idempotency-key': randomUUID() };
  const options = { capabilities: FORMS, headers };
  const stream = await steps(2, options);
  for await (const _first of stream.events) break;
  stream.close();
  const again = await all(steps(2, options));
  expect(again.at(-1).result.content[0].text).toBe('done');
  expect(executions(before)).toMatchObject([{ status: 'SUCCEEDED' }]);
});

test('hostile arguments come back unchanged through the whole workflow (A-17)', async () => {
  const raw = '{"__proto__":{"x":1},"constructor":{"prototype":null},"a.$":"$$","":["{% $x %}","\\u0000\\ud800"]}';
  const { body, headers } = modernMessage('tools/call', { name: 'echo', arguments: 'RAW' }, { capabilities: {} });
  const text = JSON.stringify(body).replace('"RAW"', () => raw);
  const { body: answer } = await post(url(), text, headers);
  expect(answer.result.content[0].text).toBe(JSON.stringify(JSON.parse(raw)));
});

test('question, answer, task: the tool has the answer from the start (E-06, E-10)', async () => {
  const before = count();
  const ada = { action: 'accept', content: { name: 'Ada' } };
  const both = { ...TASKS, ...FORMS };
  const { result: asked } = await call('ask_first', { arguments: { a: 1 } }, both);
  expect(asked).toEqual({
    resultType: 'input_required',
    inputRequests: { who: { method: 'elicitation/create', params: expect.objectContaining({ message: 'Who?' }) } },
    _meta: expect.anything(),
  });
  expect(count()).toBe(before);
  const { result: task } = await call('ask_first', { arguments: { a: 1 }, inputResponses: { who: ada } }, both);
  expect(task).toMatchObject({ resultType: 'task', status: 'working' });
  for (const key of ['inputRequests', 'requestState', 'result']) expect(task).not.toHaveProperty(key);
  const done = await poll(url(), task.taskId, ended);
  expect(done.result.structuredContent).toEqual({ who: ada, round: 1 });
  expect(JSON.stringify(done)).not.toContain('requestState');
  expect(executions(before).map(({ name }) => name)).toContain(`${task.taskId}-r1`);
  expect(count()).toBe(before + 1);
});

describe('it asks', () => {
  test('the answer is the question; the retry with answers gets the result (D-20, D-21, D-23)', async () => {
    const before = count();
    const args = { arguments: { b: 1, a: 2 } };
    const asked = (await call('ask_optional', args)).result;
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'r1.confirm': { method: 'elicitation/create' } },
      requestState: expect.any(String),
    });
    expect(Object.keys(asked)).not.toContain('taskId');
    const retry = { arguments: { a: 2, b: 1 }, requestState: asked.requestState };
    const done = await call('ask_optional', { ...retry, inputResponses: { 'r1.confirm': yes } });
    expect(done.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { answer: yes, requestState: { n: 9007199254740991 }, round: 2 },
    });
    // The work was done once, in the task that the state names, so the answer can be read again.
    const names = executions(before).map(({ name }) => name);
    expect(names).toHaveLength(2);
    expect(new Set(names.map((name) => name.replace(/-r\d$/, ''))).size).toBe(1);
    const again = await call('ask_optional', { ...retry, inputResponses: { 'r1.confirm': { action: 'decline' } } });
    expect(again.result.structuredContent).toEqual(done.result.structuredContent);
    expect(count()).toBe(before + 2);
  });

  test('by URL, and a model: in the words of this revision (D-21, D-22, D-34)', async () => {
    const capabilities = { elicitation: { url: {} }, sampling: {} };
    const link = (await call('ask_url', {}, capabilities)).result;
    expect(link.inputRequests['r1.login'].params).toEqual({
      mode: 'url',
      url: 'https://example.com/login',
      message: 'Log in',
    });
    const inputResponses = { 'r1.login': { action: 'accept' } };
    const opened = await call('ask_url', { requestState: link.requestState, inputResponses }, capabilities);
    expect(opened.result.structuredContent).toEqual({ answer: { action: 'accept' } });
    const { requestState } = (await call('ask_model', {}, capabilities)).result;
    const poem = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Roses' } };
    const said = await call('ask_model', { requestState, inputResponses: { 'r1.poem': poem } }, capabilities);
    expect(said.result.structuredContent).toEqual({ answer: poem });
  });
});

test('a client that hangs up gets nothing more; the work it started goes on (D-28)', async () => {
  const before = count();
  const stream = await steps(2);
  for await (const { data } of stream.events) {
    expect(data).toMatchObject({ method: 'notifications/progress' });
    stream.close();
  }
  const status = () => executions(before).map((execution) => execution.status);
  for (let look = 0; look < 100 && status()[0] === 'RUNNING'; look++) await sleep(100);
  expect(status()).toEqual(['SUCCEEDED']);
});
