import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import type { ServerContext } from '../context.ts';
import type { JsonSchema, ToolEntry } from '../manifest.ts';
import { isObject } from '../protocol/jsonrpc.ts';
import { errorResult } from '../wire/tool-result.ts';

/**
 * The inline window of a call without a task has closed, the work goes on (docs/architecture.md, "Delivery"). A client
 * that knows no tasks can ask for the result with `get_task_result`. It says so in the structured content, too: some
 * frameworks give their model nothing else. It is no error, which frameworks take for "call it again" (F-14).
 */
export function stillRunningResult({ tool, taskId }: TaskRecord, { manifest }: ServerContext): ToolResult {
  const running = `Tool ${tool} is still running as task ${taskId}. It has not failed: do not call it again.`;
  if (!manifest.helperTools) return errorResult(`${running} It takes longer than a call without a task can wait.`);
  const next = `${running} Call get_task_result with {"taskId":"${taskId}"} to get its result.`;
  return { content: [{ type: 'text', text: next }], structuredContent: { taskId, status: 'working', next } };
}

const RUNNING = {
  type: 'object',
  description: 'The tool is still running, as this task: next says how to get its result.',
  properties: { taskId: { type: 'string' }, status: { const: 'working' }, next: { type: 'string' } },
  required: ['taskId', 'status', 'next'],
} as const;

/**
 * The outputSchema that clients are told: of what the tool returns, or of that answer, which must fit it as well.
 * Clients check each result that is no error against it.
 */
export function advertised(entry: ToolEntry, { helperTools }: { readonly helperTools: boolean }): ToolEntry {
  const { outputSchema, taskSupport } = entry;
  if (outputSchema === undefined || taskSupport !== 'optional' || !helperTools) return entry;
  const { $schema, $defs, definitions, ...own } = outputSchema;
  const outside = { ...($schema !== undefined && { $schema }), ...(own.type === 'object' && { type: 'object' }) };
  // With an $id it is a document of its own, wherever it stands: its references go on to work.
  if (typeof own.$id === 'string') return { ...entry, outputSchema: { ...outside, anyOf: [outputSchema, RUNNING] } };
  const defs = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  return { ...entry, outputSchema: { ...outside, ...withMovedRefs(defs), anyOf: [withMovedRefs(own), RUNNING] } };
}

/** A schema that is moved to where it stands in `advertised`, with its references to itself. */
function withMovedRefs(schema: JsonSchema): JsonSchema {
  if (typeof schema.$id === 'string') return schema;
  const move = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(move);
    return isObject(value) ? withMovedRefs(value) : value;
  };
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === '$ref' && typeof value === 'string') return [key, value.replace(INNER, '#/anyOf/0$1')];
    if (NAMED.has(key) && isObject(value)) {
      return [key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, move(inner)]))];
    }
    return [key, DATA.has(key) ? value : move(value)];
  });
  return Object.fromEntries(entries);
}

/** To the whole, or a place in it, but not to its definitions, which stay where they are; anchors are found anywhere. */
const INNER = /^#(?!\/(?:\$defs|definitions)\/)(\/.*)?$/;
/** They hold schemas by names, which mean nothing. */
const NAMED: ReadonlySet<string> = new Set(
  'properties patternProperties dependentSchemas $defs definitions'.split(' '),
);
/** They hold no schemas: whatever looks like a reference there is none. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
