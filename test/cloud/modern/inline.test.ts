import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  type Answer,
  FORMS,
  type ModernOptions,
  modernMessage,
  modernRequest,
  type OpenStream,
  openStream,
  post,
} from '../../support/clients.ts';
import { useCloud } from '../../support/cloud.ts';

const cloud = useCloud();
const url = () => `${cloud().url}/mcp`;
const yes = { action: 'accept', content: { ok: true } };
const executions = (since: number) => cloud().stepFunctions.executions().slice(since);
const count = () => executions(0).length;

const call = async (name: string, more: object = {}, capabilities: object = FORMS): Promise<Answer['body']> => {
  const { status, body } = await modernRequest(url(), 'tools/call', { name, ...more }, { capabilities });
  return { status, ...body };
};

/** A call of `steps`, whose progress goes by `progressToken`, as a stream. */
function steps(count: number, progressToken: unknown, options: ModernOptions = { capabilities: FORMS }) {
  const { body, headers } = modernMessage('tools/call', { name: 'steps', arguments: { steps: count } }, options);
  const _meta = { ...body.params._meta, ...(progressToken !== undefined && { progressToken }) };
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
  const stream = await steps(2, 'p', options);
  for await (const _first of stream.events) break;
  stream.close();
  const again = await all(steps(2, 'p', options));
  expect(again.at(-1).result.content[0].text).toBe('done');
  expect(executions(before)).toMatchObject([{ status: 'SUCCEEDED' }]);
});

describe('a tool that may run as a task, called without one', () => {
  test('its plain result is the answer (E-03, F-10)', async () => {
    const { result } = await call('echo', { arguments: { a: [1, null] } }, {});
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { a: [1, null] } });
    expect(Object.keys(result).sort()).toEqual(['_meta', 'content', 'resultType', 'structuredContent']);
  });

  test('hostile arguments come back unchanged through the whole workflow (A-17)', async () => {
    const raw = '{"__proto__":{"x":1},"constructor":{"prototype":null},"a.$":"$$","":["{% $x %}","\\u0000\\ud800"]}';
    const { body, headers } = modernMessage('tools/call', { name: 'echo', arguments: 'RAW' }, { capabilities: {} });
    const text = JSON.stringify(body).replace('"RAW"', () => raw);
    const { body: answer } = await post(url(), text, headers);
    expect(answer.result.content[0].text).toBe(JSON.stringify(JSON.parse(raw)));
  });

  test('it breaks its outputSchema: an error result, also for opted-in clients (A-19)', async () => {
    const { result } = await call('broken_promise');
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('outputSchema') }] });
    expect(result).not.toHaveProperty('structuredContent');
  });

  test('an opted-in client gets plain results, too: of tools that never run as tasks (E-05)', async () => {
    const { body } = await modernRequest(url(), 'tools/call', { name: 'direct_echo', arguments: { a: 1 } });
    expect(body.result).toMatchObject({ resultType: 'complete', structuredContent: { args: { a: 1 } } });
    const { body: task } = await modernRequest(url(), 'tools/call', { name: 'echo', arguments: { a: 1 } });
    expect(task.result.resultType).toBe('task');
  });
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
    // The work was done once, in the task that the state names; so the answer can be had again.
    const names = executions(before).map(({ name }) => name);
    expect(names).toHaveLength(2);
    expect(new Set(names.map((name) => name.replace(/-r\d$/, ''))).size).toBe(1);
    const again = await call('ask_optional', { ...retry, inputResponses: { 'r1.confirm': { action: 'decline' } } });
    expect(again.result.structuredContent).toEqual(done.result.structuredContent);
    expect(count()).toBe(before + 2);
  });

  test.each<[string, object | undefined]>([
    ['none', undefined],
    ['an empty one', {}],
    ['another key', { confirm: yes }],
    ['a key of a later round', { 'r2.confirm': yes }],
    ['no elicitation answer', { 'r1.confirm': {} }],
    ['one the form refuses', { 'r1.confirm': { action: 'accept', content: { ok: 'yes' } } }],
    ['one without content', { 'r1.confirm': { action: 'accept' } }],
  ])('and asks again, with new state, if the answer is %s (D-23, D-25, D-34)', async (_what, inputResponses) => {
    const before = count();
    const first = (await call('ask_optional')).result;
    const retry = { requestState: first.requestState, ...(inputResponses && { inputResponses }) };
    const again = (await call('ask_optional', retry)).result;
    expect(again).toMatchObject({ resultType: 'input_required', inputRequests: first.inputRequests });
    expect(again.requestState).not.toBe(first.requestState);
    expect(count()).toBe(before + 1);
    // Either state is good for the answer: an older one does no harm.
    const answered = { requestState: first.requestState, inputResponses: { 'r1.confirm': yes, extra: {} } };
    expect((await call('ask_optional', answered)).result).toMatchObject({ structuredContent: { answer: yes } });
    const late = { ...answered, requestState: again.requestState };
    expect((await call('ask_optional', late)).result).toMatchObject({ structuredContent: { answer: yes } });
    expect(count()).toBe(before + 2);
  });

  test('tampered state, other arguments, another tool: refused, and nothing runs (D-23)', async () => {
    const { requestState } = (await call('ask_optional', { arguments: { a: 1 } })).result;
    const before = count();
    const inputResponses = { 'r1.confirm': yes };
    const tampered = `${requestState.slice(0, -2)}${requestState.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const [name, args, state] of [
      ['ask_optional', { a: 1 }, tampered],
      ['ask_optional', { a: 2 }, requestState],
      ['ask_url', { a: 1 }, requestState],
      ['echo', { a: 1 }, requestState],
      ['direct_echo', { a: 1 }, requestState],
    ] as const) {
      const { error } = await call(name, { arguments: args, requestState: state, inputResponses });
      expect(error).toEqual({ code: -32602, message: 'requestState is not valid for this request' });
    }
    expect(count()).toBe(before);
  });

  test.each<[string, object, object]>([
    ['ask_optional', {}, { elicitation: {} }],
    ['ask_optional', { elicitation: { url: {} } }, { elicitation: {} }],
    ['ask_model', FORMS, { sampling: {} }],
    ['ask_url', FORMS, { elicitation: { url: {} } }],
    ['direct_ask', {}, { elicitation: {} }],
  ])('%s: not what the request did not declare, %o, but -32021 (D-10, D-22)', async (name, capabilities, missing) => {
    expect(await call(name, {}, capabilities)).toMatchObject({
      status: 400,
      error: { code: -32021, data: { requiredCapabilities: missing } },
    });
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

describe('progress', () => {
  test('comes on the stream of the call with the token, before its answer (A-22, D-19, D-26)', async () => {
    const tokens = ['one', 2];
    const streams = await Promise.all(tokens.map((token) => all(steps(2, token))));
    for (const [i, messages] of streams.entries()) {
      const told = messages.slice(0, -1);
      expect(told.length).toBeGreaterThan(0);
      for (const { method, params, id } of told) {
        expect([method, id]).toEqual(['notifications/progress', undefined]);
        const { progress } = params;
        expect(params).toEqual({ progressToken: tokens[i], progress, total: 2, message: `step ${progress}` });
      }
      const values = told.map(({ params }) => params.progress);
      expect(values).toEqual([...new Set(values)].sort());
      expect(messages.at(-1).result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
    }
  });

  test('no token, or a client that takes no stream: the answer is plain JSON (A-10, D-26)', async () => {
    const json = { headers: { accept: 'application/json' }, capabilities: {} };
    for (const messages of await Promise.all([all(steps(1, undefined)), all(steps(1, 1, json))])) {
      expect(messages).toMatchObject([{ result: { content: [{ text: 'done' }] } }]);
    }
  });

  test('a client that hangs up gets nothing more; the work it started goes on (D-28)', async () => {
    const before = count();
    const stream = await steps(2, 'token');
    for await (const { data } of stream.events) {
      expect(data).toMatchObject({ method: 'notifications/progress' });
      stream.close();
    }
    const status = () => executions(before).map((execution) => execution.status);
    for (let look = 0; look < 100 && status()[0] === 'RUNNING'; look++) await sleep(100);
    expect(status()).toEqual(['SUCCEEDED']);
  });
});
