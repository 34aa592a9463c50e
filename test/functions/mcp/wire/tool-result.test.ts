import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { errorSummary, ownMeta, toolResult } from '../../../../functions/mcp/wire/tool-result.ts';
import { limits } from '../../../../functions/tasks/limits.ts';
import type { TaskRecord } from '../../../../functions/tasks/record.ts';
import { measured } from '../../../../functions/tasks/results/result-ref.ts';

const text = (words: string) => ({ type: 'text', text: words });
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

test('a large object is sent once: its text says where it is (A-17)', () => {
  const value = { a: 'x'.repeat(limits.result.copied) };
  const bytes = JSON.stringify(value).length;
  const short = [text(`The result takes ${bytes} bytes as JSON: it is in the structured content.`)];
  expect(toolResult(JSON.stringify(value))).toEqual({ content: short, structuredContent: value });
  expect(toolResult(JSON.stringify({ structuredContent: value }))).toEqual({
    content: short,
    structuredContent: value,
  });
  // Clients of 2025-11-25 get the text of a list only, and an author's own text is not a copy.
  expect(toolResult(JSON.stringify([value])).content).toEqual([text(JSON.stringify([value]))]);
  const own = { content: [text('hi')], structuredContent: value };
  expect(toolResult(JSON.stringify(own))).toEqual(own);
  const most = JSON.stringify({ a: 'x'.repeat(limits.result.copied - 8) });
  expect(toolResult(most).content).toEqual([text(most)]);
});

test('the text of a large result is parsed once for its check and its answer, and not kept', async () => {
  const large = JSON.stringify({ a: 'x'.repeat(limits.result.inline) });
  const parse = vi.spyOn(JSON, 'parse');
  const parsed = () => parse.mock.calls.filter(([one]) => one === large).length;
  expect(toolResult(large)).toBe(toolResult(large));
  expect(parsed()).toBe(1);
  toolResult(large.replace('x', 'y'));
  await setImmediate();
  expect(toolResult(large).structuredContent).toEqual({ a: 'x'.repeat(limits.result.inline) });
  expect(parsed()).toBe(2);
  parse.mockRestore();
});

describe('a returned value is a CallToolResult (A-17):', () => {
  test.each<[string, unknown, object]>([
    ['nothing', null, { content: [] }],
    ['a text', 'hi', { content: [text('hi')] }],
    ['an object', { n: 1 }, { content: [text('{"n":1}')], structuredContent: { n: 1 } }],
    ['an array', [1], { content: [text('[1]')], structuredContent: [1] }],
    [
      'an object that says it is an error',
      { isError: true, n: 1 },
      { content: [text('{"isError":true,"n":1}')], structuredContent: { isError: true, n: 1 }, isError: true },
    ],
    [
      'an object that says it is none',
      { isError: false },
      { content: [text('{"isError":false}')], structuredContent: { isError: false } },
    ],
    ['structured content without text', { structuredContent: 1 }, { content: [text('1')], structuredContent: 1 }],
    ['content', { content: [image], isError: false }, { content: [image] }],
    ['an error', { content: [], isError: true }, { content: [], isError: true }],
    ['its own metadata', { content: [], _meta: { a: 1, progressToken: 2 } }, { content: [], _meta: { a: 1 } }],
    ['metadata that is none', { content: [], _meta: 'x' }, { content: [] }],
  ])('%s', (_name, value, result) => {
    expect(toolResult(JSON.stringify(value))).toStrictEqual(result);
  });

  test('a text that is not JSON is an error that says so', () => {
    const says = 'The tool returned an envelope whose text is not JSON';
    expect(toolResult('{')).toStrictEqual({ content: [text(says)], isError: true });
  });

  test('one that is nested too deep is an error that names the limit', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(toolResult(nested(limits.result.depth)).isError).toBeUndefined();
    const says = `The tool's result is nested deeper than ${limits.result.depth} levels`;
    expect(toolResult(nested(limits.result.depth + 1))).toEqual({ content: [text(says)], isError: true });
  });
});

test.each([
  ['io.modelcontextprotocol/related-task', false],
  ['io.mcp/x', false],
  ['dev.mcp.tools/x', false],
  ['progressToken', false],
  ['com.example.mcp/x', true],
  ['mcp/x', true],
  ['com.mcpx/x', true],
  ['myprogressToken', true],
  ['progressTokens', true],
])('a tool may set the metadata %s: %s (A-21)', (key, may) => {
  expect(ownMeta({ [key]: 1 })).toEqual(may ? { [key]: 1 } : {});
});

describe('the line that says why a task failed is (C-29)', () => {
  const summary = (result: object | undefined) =>
    errorSummary({ ...(result !== undefined && { result: JSON.stringify(result) }) } as TaskRecord);
  const NONE = 'The tool reported an error';

  test.each<[string, object | undefined, string]>([
    ['its first text', { content: [image, text('first'), text('second')] }, 'first'],
    ['never longer than 500 characters', { content: [text('x'.repeat(501))] }, 'x'.repeat(500)],
    ['a fixed one without a text', { content: [image] }, NONE],
    ['a fixed one for an empty text', { content: [text('')] }, NONE],
    ['a fixed one without a result', undefined, NONE],
    [
      'a fixed one for a result in S3',
      { resultRef: measured('x'.repeat(limits.result.inline + 1)), isError: true },
      NONE,
    ],
  ])('%s', (_name, result, line) => {
    expect(summary(result)).toBe(line);
  });
});
