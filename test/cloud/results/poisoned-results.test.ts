import { expect, test } from 'vitest';
import { ended, legacySession, modernRequest, poll } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;

test.each([
  ['text that is not JSON', '{"mcpTask":1,"text":"hello"}', 'failed'],
  ['NaN, as Python writes it', '{"mcpTask":1,"text":"{\\"x\\": NaN}"}', 'failed'],
  ['no text', '{"mcpTask":1,"text":""}', 'failed'],
  ['questions that are not JSON', '{"mcpTask":1,"text":"nope","asks":true}', 'failed'],
  ['questions that are null', '{"mcpTask":1,"text":"null","asks":true}', 'failed'],
  ['a mark of the engine', '{"_jsonata_lambda":true}', 'failed'],
  ['a wrong isError', '{"mcpTask":1,"text":"5","isError":true}', 'completed'],
])('an envelope with %s harms its own task only (A-15, A-17)', async (_what, json, status) => {
  const client = await legacySession(url());
  const call = async (text: string) =>
    (await client.request('tools/call', { name: 'returns', arguments: { json: text }, task: {} })).body.result.task
      .taskId;
  const [good, bad] = [await call('1'), await call(json)];
  const read = async (taskId: string) => (await client.request('tasks/get', { taskId })).body;
  await expect.poll(async () => (await read(bad)).result?.status).toBe(status);
  await expect.poll(async () => (await read(good)).result?.status).toBe('completed');
  expect((await client.request('tasks/list')).body.result.tasks).toHaveLength(2);
  const { body } = await client.request('tasks/result', { taskId: bad });
  expect(JSON.stringify(body)).not.toContain('Internal error');
});

test('many of them do not use up the open tasks of their caller (C-37)', async () => {
  const client = await legacySession(url());
  const json = '{"mcpTask":1,"text":"nope","asks":true}';
  const call = () => client.request('tools/call', { name: 'returns', arguments: { json }, task: {} });
  for (let i = 0; i < 40; i++) expect((await call()).body.error).toBeUndefined();
});

test("the verdict on a task's questions is written at the first read, for all releases (E-32)", async () => {
  const json = '{"inputRequests":{"a":{"method":"roots/list"}}}';
  const made = await modernRequest(url(), 'tools/call', { name: 'returns', arguments: { json } });
  const { taskId } = made.body.result;
  const mark = cloud().calls.mark();
  const task = await poll(url(), taskId, ended);
  expect(task).toMatchObject({ status: 'failed', error: { data: { reason: 'InputNotSupported' } } });
  const writes = () =>
    cloud()
      .calls.since(mark)
      .filter(({ operation, caller }) => operation === 'UpdateItem' && /Endpoint/.test(caller));
  expect(writes()).toHaveLength(1);
  expect(await poll(url(), taskId, ended)).toEqual(task);
  expect(writes()).toHaveLength(1);
});
