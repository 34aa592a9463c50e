import type { TaskRecord } from '../../tasks/record.ts';
import { storedResult } from '../../tasks/result-ref.ts';
import {
  type Check,
  has,
  isBase64,
  isInteger,
  isNumber,
  isObject,
  isString,
  isUri,
  listOf,
  oneOf,
} from '../../tasks/shape.ts';
import type { ContentBlock, ToolResult } from '../../tool/contract.ts';

/** What a tool returned, as the CallToolResult it stands for (design section 8): any other JSON becomes text, too. */
export function toolResult(text: string): ToolResult {
  const value: unknown = JSON.parse(text);
  if (value === null) return { content: [] };
  if (typeof value === 'string') return { content: [textBlock(value)] };
  if (!isObject(value) || !isResult(value)) {
    const failed = isObject(value) && value.isError === true;
    return { content: [textBlock(text)], structuredContent: value, ...(failed && { isError: true }) };
  }
  const { content = [textBlock(JSON.stringify(value.structuredContent))], structuredContent, isError, _meta } = value;
  return {
    content: content as ContentBlock[],
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
    ...(isObject(_meta) && { _meta: ownMeta(_meta) }),
  };
}

/** Keys of the protocol's own are not a tool's to set. */
function ownMeta(meta: Record<string, unknown>): Record<string, unknown> {
  const reserved = /^[^./]+\.(mcp|modelcontextprotocol)(\.[^/]*)?\//;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !reserved.test(key)));
}

/** Content that no client could read makes a value plain JSON, whatever its other fields say. */
function isResult({ content, ...rest }: Record<string, unknown>): boolean {
  if (content === undefined) return 'structuredContent' in rest;
  return Array.isArray(content) && content.every(isBlock);
}

const common = {
  annotations: has(
    {},
    {
      audience: listOf(oneOf('user', 'assistant')),
      priority: (value) => isNumber(value) && Number(value) >= 0 && Number(value) <= 1,
      lastModified: isString,
    },
  ),
  _meta: isObject,
};
const resource = { mimeType: isString, _meta: isObject };
const media = has({ data: isBase64, mimeType: isString }, common);
const linked = { title: isString, description: isString, mimeType: isString, size: isInteger, icons: listOf(isObject) };
/** The content blocks that both revisions publish. */
const BLOCKS: Readonly<Record<string, Check>> = {
  text: has({ text: isString }, common),
  image: media,
  audio: media,
  resource_link: has({ uri: isUri, name: isString }, { ...common, ...linked }),
  resource: has(
    {
      resource: (value) =>
        has({ uri: isUri, text: isString }, resource)(value) || has({ uri: isUri, blob: isBase64 }, resource)(value),
    },
    common,
  ),
};
const isBlock: Check = (block) => isObject(block) && (BLOCKS[String(block.type)]?.(block) ?? false);

export function errorResult(text: string): ToolResult {
  return { content: [textBlock(text)], isError: true };
}

/** A line for people about a task whose result is an error (C-29). */
export function errorSummary(record: TaskRecord): string {
  const { result = 'null' } = record;
  const content = storedResult(result) === undefined ? toolResult(result).content : [];
  const first = content.find((block) => block.type === 'text')?.text;
  return typeof first === 'string' && first !== '' ? first.slice(0, 500) : 'The tool reported an error';
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}
