import { describe, expect, test } from 'vitest';
import {
  errorMessage,
  parseMessage,
  roundedProblem,
  UnreadableMessage,
} from '../../../../functions/mcp/protocol/jsonrpc.ts';
import { InvalidParams } from '../../../../functions/tasks/errors.ts';
import { limits } from '../../../../functions/tasks/limits.ts';

const request = { jsonrpc: '2.0', id: 1, method: 'm' };
const parse = (message: object) => parseMessage(JSON.stringify(message));
function refused(body: string) {
  try {
    parseMessage(body);
  } catch (error) {
    if (error instanceof UnreadableMessage) return { code: error.reason.code, text: error.message, id: error.id };
    throw error;
  }
  return undefined;
}
const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('a message is', () => {
  test.each<[string, object, object]>([
    ['a request', request, { kind: 'request', id: 1, method: 'm', params: {} }],
    ['a request with params', { ...request, id: 'a', params: { n: 1 } }, { id: 'a', params: { n: 1 } }],
    [
      'a notification without an id',
      { jsonrpc: '2.0', method: 'm' },
      { kind: 'notification', method: 'm', params: {} },
    ],
    ['an answer', { jsonrpc: '2.0', id: 'q', result: { n: 1 } }, { kind: 'response', id: 'q', result: { n: 1 } }],
    ['an answer by an error', { jsonrpc: '2.0', id: null, error: {} }, { kind: 'response', id: null }],
    ['a request, if it has a method and a result', { ...request, result: 1 }, { kind: 'request' }],
  ])('%s', (_name, message, parsed) => {
    expect(parse(message)).toMatchObject(parsed);
    expect(parse(message)).not.toHaveProperty('rounded');
  });
});

test('an integer that JSON.parse has rounded is named, also beside null', () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":null,"b":9007199254740993}}';
  expect(parseMessage(body)).toMatchObject({ rounded: 'params.b' });
});

describe('what is no message is refused by its reason, with its id if that can be read (A-05):', () => {
  const long = (bytes: number) => 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2);
  test.each<[string, string, object]>([
    ['no JSON', '{', { code: -32700 }],
    ['a batch', '[]', { code: -32600, text: 'Batches are not supported: send one message' }],
    ['a text', '"x"', { code: -32600, text: 'A message is a JSON object' }],
    ['another version', '{"jsonrpc":"1.0","id":5}', { text: "jsonrpc must be '2.0'", id: 5 }],
    ['an id of no kind', '{"jsonrpc":"2.0","id":1.5,"method":"m"}', { text: 'id must be a string or an integer' }],
    ['no method', '{"jsonrpc":"2.0","id":5}', { text: 'method must be a string', id: 5 }],
    ['no params', '{"jsonrpc":"2.0","id":5,"method":"m","params":[]}', { text: 'params must be an object', id: 5 }],
    [
      'a number that is infinite',
      '{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":[1e999]}}',
      { text: 'The message holds a number that is too large', id: 5 },
    ],
    [
      'a long id',
      JSON.stringify({ ...request, id: long(limits.requestId + 1) }),
      { text: `id may take ${limits.requestId} bytes at most` },
    ],
    [
      'too many levels',
      JSON.stringify({ ...request, params: { x: nested(limits.jsonDepth - 1) } }),
      { text: `The message is nested deeper than ${limits.jsonDepth} levels`, id: 1 },
    ],
  ])('%s', (_name, body, problem) => {
    expect(refused(body)).toMatchObject(problem);
  });

  test('but not at the limit', () => {
    expect(parse({ ...request, id: long(limits.requestId) })).toMatchObject({ kind: 'request' });
    expect(parse({ ...request, params: { x: nested(limits.jsonDepth - 2) } })).toMatchObject({ kind: 'request' });
  });
});

describe('an integer that JSON rounds is found by its path:', () => {
  test.each([
    ['9007199254740993', 'params.a.1.b'],
    ['-9007199254740993', 'params.a.1.b'],
    ['9007199254740993.0', 'params.a.1.b'],
    ['9007199254740991', undefined],
    ['1e20', undefined],
    ['"9007199254740993"', undefined],
  ])('%s', (number, path) => {
    const message = parseMessage(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[ 1, {"b": ${number} } ]}}`);
    expect('rounded' in message ? message.rounded : undefined).toBe(path);
  });

  test('in an answer, too; a long name is cut', () => {
    const big = `{"jsonrpc":"2.0","id":1,"result":{"${'n'.repeat(101)}":9007199254740993}}`;
    expect(parseMessage(big)).toMatchObject({ kind: 'response', rounded: `result.${'n'.repeat(100)}` });
  });
});

describe('an error is sent', () => {
  test('with its code, its data and the id of its request, if there are any', () => {
    const error = new InvalidParams('no', 400);
    expect(errorMessage(undefined, error)).toEqual({
      ...{ status: 400, body: { jsonrpc: '2.0', error: { code: -32602, message: 'no' } } },
    });
    expect(errorMessage(0, error).body).toStrictEqual({
      ...{ jsonrpc: '2.0', id: 0, error: { code: -32602, message: 'no' } },
    });
  });

  test('without a word of its own if it is unexpected; an outage says to try again (A-15)', () => {
    const throttled = Object.assign(new Error('arn:planted'), { name: 'ThrottlingException' });
    expect(errorMessage(1, throttled).body).toMatchObject({ error: { data: { reason: 'Unavailable' } } });
    expect(errorMessage(1, new Error('planted')).body).toEqual({
      ...{ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } },
    });
  });
});

test('an integer that would be rounded is refused by its place, with what to do', () => {
  expect(roundedProblem('params.n')).toBe(
    'params.n is an integer beyond 2^53 - 1, which would be rounded: make it smaller, or a string',
  );
});
