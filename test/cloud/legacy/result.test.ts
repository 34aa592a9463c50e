import { describe, expect, test, vi } from 'vitest';
import {
  ended,
  legacySession,
  modernRequest,
  openStream,
  poll,
  post,
  runTask,
  type SseEvent,
} from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';
import { follow, type Message, type Session } from './follow.ts';

const cloud = useCloud('brief');
const url = () => `${cloud().url}/mcp`;
async function start(client: Session, name: string, args: object = {}, _meta: object = {}): Promise<string> {
  const { body } = await client.request('tools/call', { name, arguments: args, task: {}, _meta });
  return body.result.task.taskId;
}

const texts = (content: { text: string }[]) => content.map(({ text }) => text);

describe.concurrent('tasks/result', () => {
  test('a client that hung up, or sent notifications/cancelled, has cancelled no task (B-15, B-16)', async () => {
    const client = await legacySession(url());
    const taskId = await start(client, 'sleep', { ms: 1_500 });
    const body = { jsonrpc: '2.0', id: 'gone', method: 'tasks/result', params: { taskId } };
    const stream = await openStream(url(), body, client.headers);
    for await (const _first of stream.events) break;
    for (const requestId of ['gone', 'never heard of', 5]) {
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'Bored' } };
      expect(await post(url(), cancelled, client.headers)).toMatchObject({ status: 202, body: '' });
    }
    stream.close();
    const { answer } = await follow(url(), client, 'tasks/result', { taskId });
    expect(texts(answer.result.content)).toEqual(['slept 1500 ms']);
    expect((await client.request('tasks/get', { taskId })).body.result.status).toBe('completed');
  });

  test('a call without a task goes on when its client hangs up (B-16)', async () => {
    const client = await legacySession(url());
    const params = { name: 'sleep', arguments: { ms: 1_200 } };
    const stream = await openStream(
      url(),
      { jsonrpc: '2.0', id: 'call', method: 'tools/call', params },
      client.headers,
    );
    for await (const _first of stream.events) break;
    stream.close();
    const { tasks } = (await client.request('tasks/list')).body.result;
    expect(tasks).toHaveLength(1);
    expect((await poll(url(), tasks[0].taskId, ended)).status).toBe('completed');
  });

  test('of a failed or cancelled task is an error, on a stream as in JSON (C-16, C-30, C-31, F-12)', async () => {
    const client = await legacySession(url());
    const failing = await start(client, 'throws');
    const failed = { code: -32603, message: 'The tool failed', data: { reason: 'TypeError' } };
    expect((await follow(url(), client, 'tasks/result', { taskId: failing })).answer.error).toEqual(failed);
    expect((await poll(url(), failing, ended)).error).toEqual(failed);
    const taskId = await start(client, 'sleep', { ms: 20_000 });
    const waiting = follow(url(), client, 'tasks/result', { taskId });
    await client.request('tasks/cancel', { taskId });
    expect((await waiting).answer.error).toEqual({ code: -32603, message: 'Task was cancelled' });
    const { body } = await client.request('tasks/result', { taskId });
    expect(body.error).toEqual({ code: -32603, message: 'Task was cancelled' });
  });

  test('a client that takes only JSON gets the result, or how to wait longer, as JSON (A-07, C-18)', async () => {
    const client = await legacySession(url());
    const json = { accept: 'application/json' };
    const soon = await start(client, 'echo', { a: 1 });
    // On a busy machine even this may take longer than one hold, which is a second here.
    await vi.waitFor(
      async () => {
        const { body } = await client.request('tasks/result', { taskId: soon }, json);
        expect(body.result?.structuredContent).toEqual({ a: 1 });
      },
      { timeout: 15_000, interval: 0 },
    );
    const taskId = await start(client, 'sleep', { ms: 20_000 });
    const early = await client.request('tasks/result', { taskId }, json);
    expect([early.status, early.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(early.body.error).toMatchObject({ code: -32603, message: expect.stringContaining('text/event-stream') });
    await client.request('tasks/cancel', { taskId });
  });

  test('a client that takes only streams gets every answer on one (A-07)', async () => {
    const client = await legacySession(url());
    const { taskId } = await runTask(url(), 'echo', { a: 1 });
    const stream = await openStream(
      ...([url(), { jsonrpc: '2.0', id: 'only', method: 'tasks/result', params: { taskId } }] as const),
      { ...client.headers, accept: 'text/event-stream' },
    );
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const events: SseEvent[] = [];
    for await (const event of stream.events) events.push(event);
    expect(events).toEqual([{ data: expect.objectContaining({ id: 'only', result: expect.anything() }) }]);
  });
});

describe.concurrent('logging/setLevel', () => {
  const logs = (messages: Message[]) => messages.filter(({ method }) => method === 'notifications/message');
  const steps = async (client: Session) => {
    const { messages } = await follow(url(), client, 'tasks/result', {
      taskId: await start(client, 'steps', { steps: 2 }),
    });
    return logs(messages).map(({ params }) => params);
  };

  test('debug and info deliver each report once; error and no level deliver none (B-11, B-12)', async () => {
    const levels = ['debug', 'info', 'error', undefined];
    const seen = levels.map(async (level) => {
      const client = await legacySession(url());
      if (level) expect((await client.request('logging/setLevel', { level })).body.result).toEqual({});
      return steps(client);
    });
    const [debug = [], info = [], ...none] = await Promise.all(seen);
    const reports = [1, 2].map((n) => ({ level: 'info', logger: 'steps', data: `step ${n}` }));
    for (const some of [debug, info]) {
      expect(some.length).toBeGreaterThan(0);
      expect(some).toEqual(reports.filter((report) => some.some(({ data }) => data === report.data)));
    }
    expect(none).toEqual([[], []]);
  });

  test('an unknown level is refused, and so is a caller without a session', async () => {
    const client = await legacySession(url());
    for (const level of ['loud', 'DEBUG', 5, undefined]) {
      expect((await client.request('logging/setLevel', { level })).body.error.code).toBe(-32602);
    }
    const body = { jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level: 'debug' } };
    const { body: alone } = await post(url(), body, { 'mcp-protocol-version': '2025-11-25' });
    expect(alone.error).toMatchObject({ code: -32602, message: expect.stringContaining('MCP-Session-Id') });
  });
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

  test('a container that dies between two streams changes nothing (C-19)', async () => {
    const client = await legacySession(url());
    const taskId = await start(client, 'sleep', { ms: 2_500 });
    const { streams, answers } = await follow(url(), client, 'tasks/result', { taskId }, { between: killEndpoint });
    expect(streams.length).toBeGreaterThan(1);
    expect(answers.map(({ result }) => texts(result.content))).toEqual([['slept 2500 ms']]);
  });

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
