import { describe, expect, test } from 'vitest';
import { type Answer, callTask, type Question, resumeTask } from '../../../functions/client/index.ts';
import { instantPauses } from './instant.ts';
import {
  connected,
  cut,
  DONE,
  type Message,
  NEW,
  Refusal,
  type Scripted,
  taskServer,
  throwing,
  turns,
} from './scripted.ts';

const pauses = instantPauses();
const RELATED = 'io.modelcontextprotocol/related-task';
const OK: Answer = { action: 'accept', content: { ok: true } };
const question = { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } };

/** The server asks on a stream of 2025-11-25. */
const ask = (server: Scripted, id: number, taskId?: string, method = 'elicitation/create') =>
  askWith(server, id, taskId === undefined ? undefined : { [RELATED]: { taskId } }, method);
const askWith = (server: Scripted, id: number, _meta?: object, method = 'elicitation/create') =>
  server.onmessage?.({ ...{ jsonrpc: '2.0', id, method }, params: { ...question, ...(_meta && { _meta }) } });

const { 'client 2.x, 2025-11-25': old2, 'sdk 1.x, 2025-11-25': old1 } = connected;

describe.each(Object.entries({ old2, old1 }))('a task that asks in 2025-11-25 (%s)', (_name, connect) => {
  /** A task that asks until it is released. */
  function asking(also: Parameters<typeof taskServer>[1] = {}) {
    const result = Promise.withResolvers<object>();
    const server = taskServer([['input_required']], { 'tasks/result': () => result.promise, ...also });
    return { server, end: () => result.resolve(DONE) };
  }
  const waits = (server: Scripted) => expect.poll(() => server.methods()).toContain('tasks/result');

  test('a question that arrives on two streams is asked once, and answered on both', async () => {
    const { server, end } = asking();
    const asked: Question[] = [];
    const onQuestion = (given: Question) => {
      asked.push(given);
      return OK;
    };
    const call = resumeTask(await connect(server), 'T', { onQuestion });
    await waits(server);
    ask(server, 7, 'T');
    ask(server, 7, 'T');
    await expect.poll(() => server.answers).toHaveLength(2);
    expect(asked).toEqual([question]);
    expect(server.answers).toMatchObject([
      { id: 7, result: OK },
      { id: 7, result: OK },
    ]);
    end();
    expect(await call).toMatchObject(DONE);
  });

  test('waits for tasks/result once, and returns what it brings without another poll', async () => {
    const { server, end } = asking();
    const call = resumeTask(await connect(server), 'T');
    while (pauses.length < 3) await turns(1);
    end();
    expect(await call).toMatchObject(DONE);
    const { length } = server.asked;
    await turns();
    expect(server.asked).toHaveLength(length);
    expect(server.methods().filter((method) => method === 'tasks/result')).toHaveLength(1);
  });

  test('a question of no task, or of a task that has ended, is for the program', async () => {
    const { server, end } = asking();
    const client = await connect(server);
    const heard: string[] = [];
    (client as Message).fallbackRequestHandler = async ({ id }: Message) => {
      heard.push(String(id));
      return { action: 'decline' };
    };
    const call = resumeTask(client, 'T', { onQuestion: () => OK });
    await waits(server);
    ask(server, 1);
    ask(server, 2, 'other');
    ask(server, 3, 'T', 'sampling/other');
    askWith(server, 4, { trace: 'x' });
    await expect.poll(() => heard).toEqual(['1', '2', '3', '4']);
    end();
    await call;
    ask(server, 5, 'T');
    await expect.poll(() => heard).toEqual(['1', '2', '3', '4', '5']);
  });

  test('what nothing handles is refused as a method that is not there', async () => {
    const { server, end } = asking();
    const call = resumeTask(await connect(server), 'T', { onQuestion: () => OK });
    await waits(server);
    ask(server, 1);
    await expect.poll(() => server.answers).toMatchObject([{ id: 1, error: { code: -32601 } }]);
    end();
    await call;
  });

  test('a second call leaves the handler of the client as the first one has left it', async () => {
    const { server, end } = asking();
    const client = await connect(server);
    const handler = () => (client as Message).fallbackRequestHandler;
    const first = resumeTask(client, 'T', { onQuestion: () => OK });
    await waits(server);
    const left = handler();
    const second = resumeTask(client, 'U', { onQuestion: () => OK });
    await expect.poll(() => server.asked.map(({ params }) => params.taskId)).toContain('U');
    expect(handler()).toBe(left);
    end();
    await Promise.all([first, second]);
  });

  test.each([
    ['no terminal', { onQuestion: throwing(new Error('no terminal')) as () => Answer }],
    ['pass onQuestion', {}],
  ])('without an answer the call ends (%s), answers nothing and leaves the task alone', async (why, options) => {
    const { server } = asking();
    const call = resumeTask(await connect(server), 'T', options);
    const ended = expect(call).rejects.toThrow(why);
    await waits(server);
    ask(server, 1, 'T');
    await ended;
    await turns();
    const { length } = server.asked;
    await turns();
    expect(server.answers).toEqual([]);
    expect(server.asked).toHaveLength(length);
    expect(server.methods()).not.toContain('tasks/cancel');
  });
});

describe('a task that asks in 2026-07-28', () => {
  const asking = [
    'input_required',
    { inputRequests: { q: { method: 'elicitation/create', params: question } } },
  ] as const;
  const answered = (server: Scripted) => server.asked.filter(({ method }) => method === 'tasks/update');

  test('an answer that is lost is sent again, the question is asked once', async () => {
    let tries = 0;
    const update = () => {
      if (tries++ === 0) throw cut();
      return { resultType: 'complete' };
    };
    const server = taskServer([asking, asking, ['completed']], { 'tasks/update': update });
    const asked: Question[] = [];
    const onQuestion = (given: Question) => {
      asked.push(given);
      return OK;
    };
    expect(await resumeTask(await NEW(server), 'T', { onQuestion })).toMatchObject(DONE);
    expect(asked).toMatchObject([question]);
    expect(answered(server).map(({ params }) => params)).toMatchObject([
      { taskId: 'T', inputResponses: { q: OK } },
      { taskId: 'T', inputResponses: { q: OK } },
    ]);
  });

  test('only a call that answers questions says that it can be asked', async () => {
    const server = taskServer([['completed']]);
    const client = await NEW(server);
    await callTask(client, 'tool', {}, { onQuestion: () => OK });
    await callTask(client, 'tool');
    const declared = server.asked
      .filter(({ method }) => method === 'tools/call')
      .map(({ params }) => params._meta['io.modelcontextprotocol/clientCapabilities'].elicitation);
    expect(declared).toEqual([{ form: {}, url: {} }, undefined]);
  });

  test.each([
    ['no terminal', { onQuestion: throwing(new Error('no terminal')) as () => Answer }],
    ['pass onQuestion', {}],
  ])('without an answer the call ends (%s), and the task is left alone', async (why, options) => {
    const server = taskServer([asking]);
    await expect(callTask(await NEW(server), 'tool', {}, options)).rejects.toThrow(why);
    await turns();
    expect(server.methods()).not.toContain('tasks/update');
    expect(server.methods()).not.toContain('tasks/cancel');
  });

  test('an error of the server in place of a task comes with its code', async () => {
    const server = taskServer([], { 'tools/call': throwing(new Refusal(-32021, 'declare it')) });
    await expect(callTask(await NEW(server), 'tool')).rejects.toMatchObject({ code: -32021, message: 'declare it' });
  });
});
