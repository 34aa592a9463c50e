import type { TaskRecord } from '../../tasks/record.ts';
import type { ContentBlock, ToolResult } from '../../tool/contract.ts';
import { isObject } from '../jsonrpc.ts';

/** What a tool returned, as the CallToolResult it stands for (design section 8): any other JSON becomes text, too. */
export function toolResult(text: string): ToolResult {
  const value: unknown = JSON.parse(text);
  if (value === null) return { content: [] };
  if (typeof value === 'string') return { content: [textBlock(value)] };
  if (!isObject(value) || !isResult(value)) return { content: [textBlock(text)], structuredContent: value };
  const { content = [textBlock(JSON.stringify(value.structuredContent))], isError, _meta, ...rest } = value;
  return {
    ...rest,
    content: content as ContentBlock[],
    ...(isError === true && { isError }),
    ...(isObject(_meta) && { _meta }),
  };
}

/** Content that no client could read makes a value plain JSON, whatever its other fields say. */
function isResult({ content, ...rest }: Record<string, unknown>): boolean {
  if (content === undefined) return 'structuredContent' in rest;
  return Array.isArray(content) && content.every((block) => isObject(block) && typeof block.type === 'string');
}

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
