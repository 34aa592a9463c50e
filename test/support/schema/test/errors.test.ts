import { describe, expect, test } from 'vitest';
import { checkAnswer, type Era } from '../index.ts';

const L: Era = '2025-11-25';
const M: Era = '2026-07-28';
const EXT = 'io.modelcontextprotocol/tasks';
const check = (era: Era, answer: object) => checkAnswer(era, 'x', { jsonrpc: '2.0', id: 1, ...answer }, { id: 1 });

describe('errors', () => {
  const error = (code: number, data?: unknown) => ({
    error: { code, message: 'm', ...(data !== undefined && { data }) },
  });
  test.each<[Era, object]>([
    [L, error(-32601)],
    [L, error(-32042, { elicitations: [] })],
    [L, error(5)],
    [M, error(-32020)],
    [M, error(-32021, { requiredCapabilities: { extensions: { [EXT]: {} } } })],
    [M, error(-32022, { supported: [M], requested: 'x' })],
    [M, { ...error(-32600), id: undefined }],
  ])('%s %o', (era, answer) => {
    const { id, ...withoutId } = { id: 1, ...answer };
    expect(() => checkAnswer(era, 'x', { jsonrpc: '2.0', ...withoutId, ...(id && { id }) }, { id: 1 })).not.toThrow();
  });

  test.each<[Era, object, RegExp]>([
    [L, error(-32022, { supported: [], requested: '' }), /-32022/],
    [L, error(-32000), /-32000/],
    [L, error(-32042), /URLElicitationRequiredError/],
    [M, error(-32002), /-32002/],
    [M, error(-32042, { elicitations: [] }), /-32042/],
    [M, error(-32023), /-32023/],
    [M, error(-32021), /MissingRequiredClientCapabilityError\/error must have/],
    [M, { ...error(-32602), id: null }, /id must be string,integer/],
    [M, { ...error(-32602), id: '1' }, /its request 1/],
    [M, { ...error(-32602), result: {} }, /'result'/],
    [M, { error: { code: 1.5 } }, /code must be integer.*'message'|'message'.*code must be integer/s],
  ])('not %s %o', (era, answer, problem) => {
    expect(() => check(era, answer)).toThrow(problem);
  });

  test('an error that was raised after the id was read has it', () => {
    expect(() => checkAnswer(M, 'x', { jsonrpc: '2.0', ...error(-32602) }, { id: 1 })).toThrow(/lacks the id 1/);
    expect(() => checkAnswer(M, 'x', { jsonrpc: '2.0', ...error(-32602) }, { id: undefined })).not.toThrow();
  });
});
