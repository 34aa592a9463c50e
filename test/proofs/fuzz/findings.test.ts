import { describe, expect, test } from 'vitest';
import { trimmed } from '../../../functions/mcp/http/http.ts';
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
      expect(trimmed(` \t${within}\t `)).toBe(within);
    };
    expect(growsLinearly(read, 10_000)).toBe(true);
  });
});

describe('tool results', () => {
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
  const form = (field: object) => ({ message: 'm', requestedSchema: { type: 'object', properties: { field } } });

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
