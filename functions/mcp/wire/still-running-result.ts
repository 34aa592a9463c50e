import type { TaskRecord } from '../../tasks/record.ts';
import { isObject } from '../../tasks/shape.ts';
import type { ToolResult } from '../../tasks/tool-contract.ts';
import type { ServerContext } from '../context.ts';
import type { JsonSchema, ToolEntry } from '../manifest.ts';
import { errorResult } from './tool-result.ts';

/**
 * The result of a call without a task whose inline window has ended while the tool runs (docs/architecture/requests.md,
 * "Delivery"). It points to `get_task_result`, also in the structured content, because some frameworks show their model
 * nothing else. It is not an error result, because frameworks repeat a call after an error (F-14).
 */
export function stillRunningResult(
  { tool, taskId }: Pick<TaskRecord, 'tool' | 'taskId'>,
  { manifest }: ServerContext,
): ToolResult {
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

/** A tool in tools/list. Its outputSchema allows the still-running result, too: clients check results. */
export function advertised(entry: ToolEntry, { helperTools }: { readonly helperTools: boolean }): ToolEntry {
  const { outputSchema, taskSupport } = entry;
  if (outputSchema === undefined || taskSupport !== 'optional' || !helperTools) return entry;
  const { $schema, $defs, definitions, ...own } = outputSchema;
  const outside = { ...($schema !== undefined && { $schema }), ...(own.type === 'object' && { type: 'object' }) };
  // A schema with an $id is a separate document, so its references work in any place.
  if (typeof own.$id === 'string') return { ...entry, outputSchema: { ...outside, anyOf: [outputSchema, RUNNING] } };
  const defs = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  return { ...entry, outputSchema: { ...outside, ...withMovedRefs(defs), anyOf: [withMovedRefs(own), RUNNING] } };
}

/** A schema with its references to itself changed to its new place in `advertised`. */
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

/** A reference to the whole schema or into it. Not to its definitions, which do not move, or an anchor. */
const INNER = /^#(?!\/(?:\$defs|definitions)\/)(\/.*)?$/;
/** The keywords whose members are schemas by name. Those names are not keywords. */
const NAMED: ReadonlySet<string> = new Set(
  'properties patternProperties dependentSchemas $defs definitions'.split(' '),
);
/** Keywords that hold data: a `$ref` in it is not a reference. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
