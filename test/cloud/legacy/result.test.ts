import { describe, expect, test } from 'vitest';
import { ended, legacySession, modernRequest, openStream, poll, type SseEvent } from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import type { Session } from './follow.ts';

const cloud = useCloud('brief');
const url = () => `${cloud().url}/mcp`;
async function start(client: Session, name: string, args: object): Promise<string> {
  const { body } = await client.request('tools/call', { name, arguments: args, task: {} });
  return body.result.task.taskId;
}

test('a call without a task goes on when its client hangs up (B-16)', async () => {
  const client = await legacySession(url());
  const params = { name: 'sleep', arguments: { ms: 1_200 } };
  const stream = await openStream(url(), { jsonrpc: '2.0', id: 'call', method: 'tools/call', params }, client.headers);
  for await (const _first of stream.events) break;
  stream.close();
  const { tasks } = (await client.request('tasks/list')).body.result;
  expect(tasks).toHaveLength(1);
  expect((await poll(url(), tasks[0].taskId, ended)).status).toBe('completed');
});

describe('one endpoint', () => {
  test('serves both revisions on one path; initialized is optional (A-01, B-07, B-14, F-01)', async () => {
    const client = await legacySession(url());
    expect((await client.request('tools/list')).body.result.tools.length).toBeGreaterThan(0);
    expect(await client.notify('notifications/initialized')).toMatchObject({ status: 202, body: '' });
    expect((await client.request('ping')).body.result).toEqual({});
    const modern = await modernRequest(url(), 'tools/call', { name: 'direct_echo', arguments: { a: 1 } });
    const legacy = await client.request('tools/call', { name: 'direct_echo', arguments: { a: 1 } });
    expect(modern.body.result).toMatchObject({ resultType: 'complete', structuredContent: { args: { a: 1 } } });
    const structuredContent = { args: { a: 1 }, hadTask: false };
    expect(legacy.body.result).toEqual({
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
    });
  });

  const killEndpoint = () => {
    const { functionName = '' } =
      cloud()
        .lambda.workers()
        .find((pool) => pool.functionName.includes('Endpoint')) ?? {};
    cloud().lambda.kill(functionName);
  };

  test('a container dies under a stream: the client resumes by event id (B-09, B-16, C-19)', async () => {
    const client = await legacySession(url());
    const taskId = await start(client, 'sleep', { ms: 1_500 });
    const body = { jsonrpc: '2.0', id: 'cut', method: 'tasks/result', params: { taskId } };
    const stream = await openStream(url(), body, client.headers);
    let lastId: string | undefined;
    const read = async () => {
      for await (const { id } of stream.events) {
        lastId = id;
        killEndpoint();
      }
    };
    await expect(read()).rejects.toThrow();
    await poll(url(), taskId, ended);
    const rest = await openStream(url(), undefined, { ...client.headers, 'last-event-id': lastId }, 'GET');
    const events: SseEvent[] = [];
    for await (const event of rest.events) events.push(event);
    expect(events.at(-1)?.data).toMatchObject({ id: 'cut', result: { content: [{ text: 'slept 1500 ms' }] } });
  });
});
