import { limits } from '../../tasks/limits.ts';
import { isBlock } from '../../tasks/questions/content.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { storedResult } from '../../tasks/results/result-ref.ts';
import { isJsonDeeperThan, isObject, parsed } from '../../tasks/shape.ts';
import type { ContentBlock, ToolResult } from '../../tasks/tool-contract.ts';

/** The large text that was read last: the same request checks it, then shows it. A text of 6 MB takes a second to parse. */
let last: { readonly text: string; readonly result: ToolResult } | undefined;

/** A return value as a CallToolResult (docs/architecture/workflows.md, "Tools"): any other JSON becomes text and structure. */
export function toolResult(text: string): ToolResult {
  if (text === last?.text) return last.result;
  const result = resultOf(text);
  if (text.length > limits.result.inline) {
    if (last === undefined) setImmediate(() => (last = undefined));
    last = { text, result };
  }
  return result;
}

function resultOf(text: string): ToolResult {
  const value = parsed(text);
  if (value === undefined) return errorResult('The tool returned an envelope whose text is not JSON');
  if (value === null) return { content: [] };
  const { depth } = limits.result;
  if (isJsonDeeperThan(text, depth)) return errorResult(`The tool's result is nested deeper than ${depth} levels`);
  if (typeof value === 'string') return { content: [textBlock(value)] };
  if (!isObject(value) || !isResult(value)) {
    const failed = isObject(value) && value.isError === true;
    return { content: [copyOf(value, text)], structuredContent: value, ...(failed && { isError: true }) };
  }
  const { structuredContent, isError, _meta } = value;
  const { content = [copyOf(structuredContent, JSON.stringify(structuredContent))] } = value;
  return {
    content: content as ContentBlock[],
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
    ...(isObject(_meta) && { _meta: ownMeta(_meta) }),
  };
}

/** Structured content as text. A large object would take three times its size, and both revisions show its structure. */
function copyOf(structured: unknown, text: string): ContentBlock {
  const bytes = Buffer.byteLength(text);
  if (!isObject(structured) || bytes <= limits.result.copied) return textBlock(text);
  return textBlock(`The result takes ${bytes} bytes as JSON: it is in the structured content.`);
}

/** Drops the keys that the protocol reserves: a tool must not set them. */
export function ownMeta(meta: Record<string, unknown>): Record<string, unknown> {
  const reserved = /^[^./]+\.(mcp|modelcontextprotocol)(\.[^/]*)?\/|^progressToken$/;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !reserved.test(key)));
}

/** Whether a value is a CallToolResult. With content that no client could read, it is plain JSON. */
function isResult(value: Record<string, unknown>): boolean {
  const { content } = value;
  if (content === undefined) return 'structuredContent' in value;
  return Array.isArray(content) && content.every(isBlock);
}

export function errorResult(text: string): ToolResult {
  return { content: [textBlock(text)], isError: true };
}

/** A line for people that says why a task failed, if its result is an error (C-29). */
export function errorSummary(record: TaskRecord): string {
  const { result = 'null' } = record;
  const stored = storedResult(result);
  const first = stored ? stored.says : toolResult(result).content.find((block) => block.type === 'text')?.text;
  return typeof first === 'string' && first !== '' ? first.slice(0, 500) : 'The tool reported an error';
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}
