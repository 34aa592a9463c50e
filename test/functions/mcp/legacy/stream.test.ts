import { describe, expect, test } from 'vitest';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { manifest } from '../support/fake-server.ts';
import { legacyServer } from '../support/legacy-server.ts';

const SECOND = 1_000;
const BOTH = 'application/json, text/event-stream';
const FRAME = /^(: [^\r\n]*|(id: \S+\n)?(retry: \d+\n)?data: ?(\{[^\r\n]*\})?)$/;
type Headers = Readonly<Record<string, string>>;

/** Sessions that take JSON and streams, and a task that works until the test ends it. Times are in seconds. */
function setup() {
  const here = legacyServer();
  async function session() {
    const client = await here.session({});
    const headers = { ...client.headers, accept: BOTH };
    let id = 0;
    const request = (method: string, params: object = {}) =>
      here.send(headers, { jsonrpc: '2.0', id: `q${++id}`, method, params });
    return {
      ...{ headers, request },
      resume: (eventId: string, more: Headers = {}) =>
        here.send({ ...headers, accept: 'text/event-stream', ...more, 'last-event-id': eventId }),
      create: async (_meta: object = {}): Promise<string> =>
        (await request('tools/call', { name: 'optional', task: {}, _meta })).result.task.taskId,
    };
  }
  return {
    ...{ ...here, session },
    at: (seconds: number, run: () => unknown) => here.at(seconds * SECOND, run),
    seconds: () => here.elapsed() / SECOND,
    report: (taskId: string, statusMessage: string, more: Partial<TaskRecord> = {}) =>
      here.change(taskId, { statusMessage, ...more }),
    finish: (taskId: string) => here.change(taskId, { status: 'completed', result: '{"n":1}' }),
  };
}

describe('an answer that takes a while', () => {
  test('quick work is one JSON object, the rest a stream that ends with its response (A-07)', async () => {
    const { at, finish, session } = setup();
    const client = await session();
    const [soon, late] = [await client.create(), await client.create()];
    at(0.1, () => finish(soon));
    at(9, () => finish(late));
    const json = await client.request('tasks/result', { taskId: soon });
    expect(json.headers['content-type']).toBe('application/json');
    expect(json.answer).toMatchObject({ id: expect.any(String), result: { structuredContent: { n: 1 } } });
    const stream = await client.request('tasks/result', { taskId: late });
    expect(stream.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    expect(stream.messages).toEqual([expect.objectContaining({ id: 'q4', result: expect.anything() })]);
    expect(stream.events.at(-1)?.data).toBe(stream.messages[0]);
  });

  test('a frame is one line of JSON and an empty line; in between, comments keep it open (A-11)', async () => {
    const { at, report, finish, session } = setup();
    const client = await session();
    const taskId = await client.create({ progressToken: 'p' });
    at(2, () => report(taskId, 'line one\nline two\r\n\u2028end', { progress: 1 }));
    at(45, () => finish(taskId));
    const { raw, messages } = await client.request('tasks/result', { taskId });
    const frames = raw.split('\n\n');
    expect(frames.pop()).toBe('');
    for (const frame of frames) expect(frame).toMatch(FRAME);
    // Behind the event id, behind the report, and after each 15 s.
    expect(frames.filter((frame) => frame.startsWith(':'))).toHaveLength(4);
    expect(messages[0]).toMatchObject({ params: { message: 'line one\nline two\r\n\u2028end' } });
  });

  test('a stream starts with an event id without data; unanswered, it closes with a retry (B-10)', async () => {
    const { seconds, session } = setup();
    const client = await session();
    const { events } = await client.request('tasks/result', { taskId: await client.create() });
    expect(seconds()).toBeGreaterThanOrEqual(manifest.holdCap / SECOND);
    expect(seconds()).toBeLessThan(manifest.holdCap / SECOND + 1);
    expect(events).toHaveLength(2);
    for (const event of events) {
      expect(event).toEqual({ id: expect.stringMatching(/^[!-~]+$/), data: '', retry: expect.any(Number) });
    }
  });

  test('a 3-minute task is answered once, on stream 4, by its request id (A-04, C-18, C-19)', async () => {
    const { at, finish, seconds, session } = setup();
    const client = await session();
    const taskId = await client.create();
    at(180, () => finish(taskId));
    const streams = [await client.request('tasks/result', { taskId })];
    for (let last = streams[0]; last && last.answer === undefined; last = streams.at(-1)) {
      streams.push(await client.resume(last.lastId));
    }
    expect(streams).toHaveLength(4);
    expect(seconds()).toBeCloseTo(180, 0);
    expect(streams.flatMap(({ messages }) => messages)).toEqual([
      {
        jsonrpc: '2.0',
        id: 'q2',
        result: {
          content: [{ type: 'text', text: '{"n":1}' }],
          structuredContent: { n: 1 },
          _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
        },
      },
    ]);
  });
});

describe('event ids', () => {
  test('no two events of a session have the same id, on any of its streams (B-11)', async () => {
    const { at, report, session } = setup();
    const client = await session();
    const [a, b] = [await client.create({ progressToken: 1 }), await client.create({ progressToken: 2 })];
    for (const n of [1, 2, 3]) at(n * 2, () => [a, b].map((taskId) => report(taskId, `step ${n}`, { progress: n })));
    const first = await client.request('tasks/result', { taskId: a });
    const streams = [
      ...[
        first,
        await client.request('tasks/result', { taskId: a }),
        await client.request('tasks/result', { taskId: b }),
      ],
      await client.resume(first.lastId),
    ];
    const ids = streams.flatMap(({ events }) => events.flatMap((event) => event.id ?? []));
    expect(ids.length).toBeGreaterThan(10);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('a resumed stream has no message of another stream, and none twice (B-09, B-11)', async () => {
    const { at, report, finish, session } = setup();
    const client = await session();
    const [a, b] = [await client.create({ progressToken: 'a' }), await client.create({ progressToken: 'b' })];
    for (const n of [1, 2, 3]) at(n * 2, () => report(a, `step ${n}`, { progress: n }));
    at(7, () => report(b, 'of b', { progress: 1 }));
    at(120, () => [a, b].map(finish));
    const stream = await client.request('tasks/result', { taskId: a });
    const progress = stream.events.filter(({ data }) => data !== '');
    expect(progress.map(({ data }) => (data as { params: { progress: number } }).params.progress)).toEqual([1, 2, 3]);
    const rest = [];
    for (const { id = '' } of progress) rest.push((await client.resume(id)).messages);
    const answer = expect.objectContaining({ id: 'q3', result: expect.anything() });
    const third = expect.objectContaining({ params: expect.objectContaining({ progressToken: 'a', progress: 3 }) });
    expect(rest).toEqual([[third], [third, answer], [answer]]);
  });

  test('a forged or foreign one, or one of another use, gets 405, as any 2026-07-28 GET (B-09)', async () => {
    const { send, session, server } = setup();
    const [client, other] = [await session(), await session()];
    const { lastId } = await client.request('tasks/result', { taskId: await client.create() });
    const flipped = lastId.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A'));
    const [payload = '', keyId, mac] = lastId.split('.');
    const forged = `${payload}1.${keyId}.${mac}`;
    const cursor = await server.signer.seal('cursor:x', 'x');
    const foreign = await server.signer.sign('event:someone', payload);
    const bad = [
      '',
      'x',
      '.',
      payload,
      `${payload}.`,
      forged,
      `${lastId}.x`,
      flipped,
      client.headers['mcp-session-id'] ?? '',
      cursor,
      foreign,
    ];
    const refused = { status: 405, headers: { allow: 'POST' } };
    for (const eventId of bad) expect(await client.resume(eventId), eventId).toMatchObject(refused);
    expect(await other.resume(lastId)).toMatchObject(refused);
    expect(await client.resume(lastId, { 'mcp-protocol-version': '2026-07-28' })).toMatchObject(refused);
    expect((await send({ 'mcp-protocol-version': '2025-11-25', 'last-event-id': lastId })).status).toBe(405);
    expect(await client.resume(lastId, { 'mcp-session-id': 'nope' })).toMatchObject({ status: 404 });
    expect(await client.resume(lastId)).toMatchObject({ status: 200 });
  });
});

describe('what else travels on the stream', () => {
  test("progress has the creating request's token, grows, and ends with the task (A-22, C-33)", async () => {
    const { at, report, finish, session } = setup();
    const client = await session();
    const taskId = await client.create({ progressToken: 7 });
    const values = [1, 1, 5, 3, 5, 6];
    for (const [i, progress] of values.entries()) at(i * 2 + 1, () => report(taskId, `at ${i}`, { progress }));
    at(60, () => report(taskId, 'later', { progress: 9, progressTotal: 10 }));
    at(62, () => report(taskId, 'smaller', { progress: 8 }));
    at(64, () => finish(taskId));
    const first = await client.request('tasks/result', { taskId, _meta: { progressToken: 'not this one' } });
    const second = await client.resume(first.lastId);
    const params = [first, second].map(({ messages }) => messages.flatMap(({ params }) => params ?? []));
    expect(params[0]).toEqual([
      { progressToken: 7, progress: 1, message: 'at 0' },
      { progressToken: 7, progress: 5, message: 'at 2' },
      { progressToken: 7, progress: 6, message: 'at 5' },
    ]);
    expect(params[1]).toEqual([{ progressToken: 7, progress: 9, total: 10, message: 'later' }]);
    expect(second.messages.at(-1)).toHaveProperty('result');
  });

  test("a call without a task has its own token, and an answer at its window's end (A-22, F-14)", async () => {
    const { at, report, records, session, seconds } = setup();
    const client = await session();
    for (const n of [1, 2, 40]) at(n, () => report(records.ids()[0] ?? '', `at ${n}`, { progress: n }));
    const { messages, answer } = await client.request('tools/call', {
      name: 'optional',
      _meta: { progressToken: 'c' },
    });
    expect(messages.flatMap(({ params }) => params ?? [])).toEqual(
      [1, 2].map((n) => ({ progressToken: 'c', progress: n, message: `at ${n}` })),
    );
    expect(answer?.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('task') }] });
    expect(seconds()).toBeCloseTo(manifest.inlineWindow / SECOND, 0);
  });

  test('a log message is not repeated to a client that resumes after it (B-11)', async () => {
    const { at, report, finish, session } = setup();
    const client = await session();
    await client.request('logging/setLevel', { level: 'info' });
    const taskId = await client.create();
    at(1, () => report(taskId, 'half'));
    at(60, () => finish(taskId));
    const first = await client.request('tasks/result', { taskId });
    expect(first.messages).toEqual([
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', logger: 'optional', data: 'half' } },
    ]);
    const logged = first.events.find(({ data }) => data !== '')?.id ?? '';
    expect((await client.resume(logged)).messages).toEqual([expect.objectContaining({ id: 'q3' })]);
  });
});
