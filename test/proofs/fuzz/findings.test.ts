import { describe, expect, test } from 'vitest';
import { type HttpRequest, header } from '../../../functions/mcp/http/http.ts';
import { toolResult } from '../../../functions/mcp/wire/tool-result.ts';
import { isQuestion } from '../../../functions/tasks/questions/question.ts';
import { modernMessage } from '../../support/clients.ts';
import { growsLinearly } from '../../support/growth.ts';
import type { WireRequest } from './generate/mutate.ts';
import { inProcess } from './in-process.ts';
import { problemsOf } from './judge/judge.ts';

/** The findings of fuzzing, each by its name. */
const NO_TEXT = { toString: 1, valueOf: 1 };

async function send(request: WireRequest, target = inProcess()) {
  const answer = await target.send(request);
  expect(await problemsOf(request, answer, { secrets: [], bound: () => 5_000 })).toEqual([]);
  return { ...answer, ...(JSON.parse(answer.text || '{}') as { error?: { code: number; message: string } }) };
}

function modern(method: string, params: Record<string, unknown>, headers: Record<string, string | undefined> = {}) {
  const { body, headers: all } = modernMessage(method, params, { headers });
  const sent = Object.entries({ 'content-type': 'application/json', ...all });
  return {
    body,
    request: () => ({
      method: 'POST',
      headers: sent.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]])),
      body: Buffer.from(JSON.stringify(body)),
    }),
  };
}

describe('requests', () => {
  test('a version that cannot be made a text is refused, not stumbled over (ladder row 9)', async () => {
    const { body, request } = modern('tools/list', {});
    Object.assign(body.params._meta, { 'io.modelcontextprotocol/protocolVersion': NO_TEXT });
    expect(await send(request())).toMatchObject({ status: 400, error: { code: -32602 } });
  });

  test('so is a tool name, without its header (D-05)', async () => {
    const { request } = modern('tools/call', { name: NO_TEXT }, { 'mcp-name': undefined });
    expect(await send(request())).toMatchObject({ status: 400, error: { code: -32020 } });
  });

  test('the time to read a header full of blanks grows with its size, not faster', () => {
    const read = (blanks: number) => {
      const within = `a${' \t'.repeat(blanks)}b`;
      expect(header(withHeader(` \t${within}\t `), 'accept')).toBe(within);
    };
    expect(growsLinearly(read, 10_000)).toBe(true);
  });
});

const withHeader = (accept: string): HttpRequest => ({ method: 'POST', headers: { accept }, body: '' });

describe('tool results', () => {
  const text = { type: 'text', text: 'x' };
  const link = { type: 'resource_link', uri: 'https://a.example/', name: 'n' };

  test.each<[string, object]>([
    ["a type that every object has: 'constructor'", { type: 'constructor' }],
    ["'toString'", { type: 'toString' }],
    ['a type that cannot be made a text', { type: NO_TEXT }],
    ['base64 without its padding', { type: 'image', data: 'AAA', mimeType: 'image/png' }],
    ['an icon without a source', { ...link, icons: [{}] }],
    ['an icon whose source is not a URI', { ...link, icons: [{ src: 'x' }] }],
    ['a size that no client can hold', { ...link, size: 2 ** 53 }],
  ])('a block of no published kind makes the value plain JSON: %s (A-17)', (_what, block) => {
    const value = { content: [text, block] };
    const plain = { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
    expect(toolResult(JSON.stringify(value))).toEqual(plain);
  });

  test('icons as they are published are sent (A-17)', () => {
    const value = { content: [{ ...link, icons: [{ src: 'https://a.example/i', sizes: ['48x48'], theme: 'dark' }] }] };
    expect(toolResult(JSON.stringify(value))).toEqual(value);
  });

  test.each([501, 5_000, 90_000])(
    'nested %i levels deep, it is an error of the tool, for listeners too (A-15, A-17)',
    async (depth) => {
      const json = '['.repeat(depth) + ']'.repeat(depth);
      const target = inProcess();
      const made = await send(modern('tools/call', { name: 'optional', arguments: { json } }).request(), target);
      const { taskId } = JSON.parse(made.text).result;
      const listen = modern('subscriptions/listen', { notifications: { taskIds: [taskId] } }).request();
      const { text: frames } = await target.send(listen);
      expect(frames).toContain(`The tool's result is nested deeper than 500 levels`);
      expect(frames).toContain('"isError":true');
      const got = await send(modern('tasks/get', { taskId }).request(), target);
      expect(JSON.parse(got.text).result.result).toMatchObject({ isError: true });
    },
  );
});

describe('questions', () => {
  const ask = (method: unknown, params: object) => isQuestion({ method, params });
  const form = (field: object) => ({ message: 'm', requestedSchema: { type: 'object', properties: { field } } });
  const prompt = (more: object) => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'x' } }],
    maxTokens: 1,
    ...more,
  });
  const saying = (content: unknown) => prompt({ messages: [{ role: 'user', content }] });
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

  test.each<[string, unknown, object]>([
    ["a method that every object has: 'constructor'", 'constructor', {}],
    ["'toString'", 'toString', {}],
    ["'__proto__'", '__proto__', {}],
    ['a method that cannot be made a text', NO_TEXT, {}],
    ['a field of that type', 'elicitation/create', form({ type: 'constructor' })],
    ['a field of a type that cannot be made a text', 'elicitation/create', form({ type: NO_TEXT })],
    ['a text for the model that has none', 'sampling/createMessage', saying({ type: 'text' })],
    ['a block for the model of no published kind', 'sampling/createMessage', saying([{ type: 'video' }])],
    ['more tokens than a client can hold', 'sampling/createMessage', prompt({ maxTokens: 1e21 })],
    ['a preference of more than all', 'sampling/createMessage', prompt({ modelPreferences: { costPriority: 2 } })],
    ['a tool without a schema', 'sampling/createMessage', prompt({ tools: [{ name: 'x' }] })],
    ['a choice of unknown tools', 'sampling/createMessage', prompt({ toolChoice: { mode: 'any' } })],
    ['nested deeper than any answer could be', 'elicitation/create', { ...form({ type: 'string' }), deep: deep(70) }],
  ])('no client can be asked: %s (A-17, D-21)', (_what, method, params) => {
    expect(ask(method, params)).toBe(false);
  });

  test.each<[string, object]>([
    ['with tools', prompt({ tools: [{ name: 'x', inputSchema: schema }], toolChoice: { mode: 'auto' } })],
    ['with preferences', prompt({ modelPreferences: { hints: [{ name: 'm' }], speedPriority: 0.5 } })],
    ['on what a tool said', saying([{ type: 'tool_result', toolUseId: 'u', content: [{ type: 'text', text: 'x' }] }])],
    ['on what it said itself', saying({ type: 'tool_use', id: 'u', name: 'x', input: {} })],
  ])('a model can be asked: %s (D-21)', (_what, params) => {
    expect(ask('sampling/createMessage', params)).toBe(true);
  });

  test('of a task without a request, or under protocol names, is never sent (A-21, X-19)', async () => {
    const _meta = { progressToken: 5, 'io.modelcontextprotocol/related-task': { taskId: 'x' }, 'example.com/mine': 1 };
    const asked = {
      a: { method: 'elicitation/create', params: { ...form({ type: 'string' }), task: { ttl: 1 }, _meta } },
    };
    const json = JSON.stringify({ inputRequests: asked });
    const { text } = await send(modern('tools/call', { name: 'direct', arguments: { json } }).request());
    const { params } = JSON.parse(text).result.inputRequests.a;
    expect(params).toEqual({ ...form({ type: 'string' }), _meta: { 'example.com/mine': 1 } });
  });

  test('with a state nested too deep to be kept, they fail the task (A-15, A-17)', async () => {
    const question = JSON.stringify({ method: 'elicitation/create', params: form({ type: 'string' }) });
    const json = `{"inputRequests":{"a":${question}},"requestState":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    const target = inProcess();
    const made = await send(modern('tools/call', { name: 'optional', arguments: { json } }).request(), target);
    const { taskId } = JSON.parse(made.text).result;
    const { text } = await send(modern('tasks/get', { taskId }).request(), target);
    expect(JSON.parse(text).result).toMatchObject({
      status: 'failed',
      error: { data: { reason: 'InputRequestInvalid' } },
    });
  });
});

function deep(levels: number): unknown {
  return levels === 0 ? null : [deep(levels - 1)];
}
