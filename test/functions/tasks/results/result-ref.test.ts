import { describe, expect, test } from 'vitest';
import { limits } from '../../../../functions/tasks/limits.ts';
import { isOf, measured, resultTooLarge, storedResult } from '../../../../functions/tasks/results/result-ref.ts';

const { inline, stored } = limits.result;
const sha256 = 'a'.repeat(64);

describe('storedResult', () => {
  test.each<[string, number, number?]>([
    [`{"resultRef":{"bytes":5500000,"sha256":"${sha256}"}}`, 5_500_000],
    [`{"resultRef":{"bytes":5500000,"sha256":"${sha256}"},"isError":true}`, 5_500_000],
    [`{ "isError": true, "resultRef": { "sha256": "${sha256}", "bytes": 128001 } }`, 128_001],
    [`{"resultRef":{"bytes":5500000,"attempt":2,"sha256":"${sha256}"}}`, 5_500_000, 2],
  ])('%s is a reference', (text, bytes, attempt = 0) => {
    expect(storedResult(text)).toEqual({ bytes, attempt, sha256 });
  });

  test('the longest reference is one', () => {
    const resultRef = { bytes: 5_500_000, sha256, attempt: 9_999, run: '0'.repeat(36) };
    expect(storedResult(JSON.stringify({ resultRef, isError: true }))).toEqual(resultRef);
  });

  test('a text matches its reference to the byte', () => {
    const [text, other] = ['{"paid":"to Alice"}', '{"paid":"to Mally"}'];
    const ref = measured(text);
    expect([text, other, `${text} `].map((stored) => isOf(ref, stored))).toEqual([true, false, false]);
  });

  test.each([
    ['{"resultRef":{"bytes":5500000}}'],
    ['{"resultRef":{"bytes":5500000,"in":"outcomes"}}'],
    ['{"resultRef":{"bytes":5500000,"sha256":"x"}}'],
    ['{"resultRef":{"bytes":5500000,"sha256":7}}'],
    [`{"resultRef":{"bytes":5500000,"sha256":"${'A'.repeat(64)}"}}`],
    ...[
      '"bytes":5500000},"content":[]',
      '"bytes":5500000,"key":"results/other"}',
      '"bytes":1500}',
      '"bytes":5500000,"in":"results"}',
      '"bytes":5500000,"says":1}',
      '"bytes":6000001}',
      '"bytes":500000.5}',
      '"bytes":"5500000"}',
      '"bytes":5500000,"attempt":-1}',
      '"bytes":5500000,"attempt":"1/../x"}',
    ].map((rest) => [`{"resultRef":{"sha256":"${sha256}",${rest}}`]),
    ['{"resultRef":null}'],
    ['{"resultRef":[5500000]}'],
    ['["resultRef",5500000]'],
    ['"resultRef"'],
    [`{"resultRef":{"bytes":5500000,"sha256":"${sha256}"}${' '.repeat(inline)}}`],
    ['null'],
  ])('%s is a result like any other', (text) => {
    expect(storedResult(text)).toBeUndefined();
  });
});

describe('the bounds of a reference', () => {
  const bytes = 5_500_000;

  test.each<[string, object]>([
    ['a try that there cannot be', { bytes, sha256, attempt: 10_000 }],
    ['a hash that is too short', { bytes, sha256: 'a'.repeat(63) }],
    ['a hash that is too long', { bytes, sha256: 'a'.repeat(65) }],
    ['a hash in a list', { bytes, sha256: [sha256] }],
  ])('%s makes it a result like any other', (_title, resultRef) => {
    expect(storedResult(JSON.stringify({ resultRef }))).toBeUndefined();
  });

  test('a text that is longer than any reference is none, and so is no JSON', () => {
    const text = JSON.stringify({ resultRef: { bytes, sha256 } });
    expect(storedResult(text.padEnd(inline))).toBeDefined();
    expect(storedResult(text.padEnd(inline + 1))).toBeUndefined();
    expect(storedResult(`${text}x`)).toBeUndefined();
  });

  test('of a result that the server stored may be as small as a result is', () => {
    const small = { bytes: 1, in: 'outcomes', sha256 };
    expect(storedResult(JSON.stringify({ resultRef: small }))).toEqual({ ...small, attempt: 0 });
    expect(storedResult(JSON.stringify({ resultRef: { ...small, bytes: 0 } }))).toBeUndefined();
  });

  test.each([inline + 1, stored])('a reference may say %i bytes', (bytes) => {
    expect(storedResult(JSON.stringify({ resultRef: { bytes, sha256 } }))).toEqual({ bytes, sha256, attempt: 0 });
  });
});

test('a result that is too large says how large it is, how large it may be, and what to do', () => {
  expect(resultTooLarge(7)).toBe(
    "The tool's result takes 7 bytes as JSON, and a result may take 6000000 at most. " +
      'Ask for less of it (a page, a filter, a summary), or have the tool store it elsewhere and return a resource_link.',
  );
});
