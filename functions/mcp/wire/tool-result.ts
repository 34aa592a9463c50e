import type { TaskRecord } from '../../tasks/record.ts';
import type { ContentBlock, ToolResult } from '../../tool/contract.ts';
import { isObject } from '../jsonrpc.ts';

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

function isBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string';
    case 'image':
    case 'audio':
      return isBase64(block.data) && typeof block.mimeType === 'string';
    case 'resource_link':
      return isUri(block.uri) && typeof block.name === 'string';
    case 'resource': {
      const { resource } = block;
      return (
        isObject(resource) && isUri(resource.uri) && (typeof resource.text === 'string' || isBase64(resource.blob))
      );
    }
    default:
      return false;
  }
}

const isUri = (value: unknown) => typeof value === 'string' && URL.canParse(value);
const isBase64 = (value: unknown) => typeof value === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

export function errorResult(text: string): ToolResult {
  return { content: [textBlock(text)], isError: true };
}

/** A line for people about a task whose result is an error (C-29). */
export function errorSummary(record: TaskRecord): string {
  const first = toolResult(record.result ?? 'null').content.find((block) => block.type === 'text')?.text;
  return typeof first === 'string' && first !== '' ? first.slice(0, 500) : 'The tool reported an error';
}

function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}
