import { expect, test } from 'vitest';
import {
  accepted,
  acceptsJson,
  acceptsStream,
  type HttpRequest,
  jsonReply,
  notOffered,
  trimmed,
} from '../../../../functions/mcp/http/http.ts';

const having = (headers: Record<string, string>) => ({ headers }) as unknown as HttpRequest;

test.each<[string | undefined, boolean, boolean]>([
  [undefined, true, true],
  ['', true, true],
  [' , ', true, true],
  ['*/*', true, true],
  ['application/json', true, false],
  ['APPLICATION/JSON;q=0.9', true, false],
  ['application/*', true, false],
  ['text/event-stream', false, true],
  ['text/html, text/* ; q=0.1', false, true],
  ['application/json, text/event-stream', true, true],
  ['text/html', false, false],
  ['json', false, false],
])('accept: %s takes JSON: %s, a stream: %s (A-10)', (accept, json, stream) => {
  const request = having(accept === undefined ? {} : { accept });
  expect([acceptsJson(request), acceptsStream(request)]).toEqual([json, stream]);
});

test.each([
  ['a', 'a'],
  ['', ''],
  [' \t', ''],
  ['\t a b \t', 'a b'],
  ['a\n', 'a\n'],
  ['\u00a0a', '\u00a0a'],
])('outer spaces and tabs are no part of the header value %j (A-09)', (value, text) => {
  expect(trimmed(value)).toBe(text);
});

test('a reply is JSON, unless its headers say otherwise; only 202 has no body (A-06)', () => {
  expect(jsonReply(201, { a: 1 }, { b: 'c' })).toEqual({
    ...{ status: 201, headers: { 'content-type': 'application/json', b: 'c' }, body: '{"a":1}' },
  });
  expect(jsonReply(200, [])).toEqual({ status: 200, headers: { 'content-type': 'application/json' }, body: '[]' });
  expect(accepted()).toEqual({ status: 202, headers: {}, body: '' });
  expect(notOffered()).toEqual({
    ...{ status: 405, headers: { 'content-type': 'application/json', allow: 'POST' } },
    body: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Only POST is offered here"}}',
  });
});
