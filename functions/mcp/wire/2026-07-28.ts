import { outstanding } from '../../tasks/input.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { ToolResult } from '../../tool/contract.ts';
import { isObject } from '../jsonrpc.ts';
import type { Manifest } from '../manifest.ts';
import { meta } from '../versions.ts';
import { toolResult } from './tool-result.ts';
import type { TaskView, Wire } from './wire.ts';

/** The only place that knows the field names of 2026-07-28 and its tasks extension (requirements D, E). */
export function modernWire(serverInfo: Manifest['serverInfo']): Wire {
  const complete = (result: object, resultType = 'complete') => {
    const { _meta } = result as { _meta?: unknown };
    return { ...result, resultType, _meta: { ...(isObject(_meta) && _meta), [meta.serverInfo]: serverInfo } };
  };
  return {
    era: 'modern',
    result: complete,
    tool: ({ name, title, description, inputSchema, outputSchema, annotations }) => ({
      name,
      ...(title !== undefined && { title }),
      description,
      inputSchema,
      ...(outputSchema !== undefined && { outputSchema }),
      ...(annotations !== undefined && { annotations }),
    }),
    toolResult: complete,
    taskCreated: (view) => complete({ ...task(view), status: 'working' }, 'task'),
    task: (view) => complete({ ...task(view), ...details(view.record) }),
    taskCancelled: () => complete({}),
  };
}

function task({ record, pollInterval }: TaskView) {
  return {
    taskId: record.taskId,
    status: record.status,
    ...(record.statusMessage !== undefined && { statusMessage: record.statusMessage }),
    createdAt: new Date(record.createdAt).toISOString(),
    lastUpdatedAt: new Date(record.updatedAt).toISOString(),
    ttlMs: record.ttl,
    pollIntervalMs: pollInterval,
  };
}

/** What a DetailedTask adds in each status, and only there (E-11 to E-13). */
function details(record: TaskRecord): object {
  switch (record.status) {
    case 'input_required':
      return { inputRequests: outstanding(record) };
    case 'completed':
      return { result: completedResult(toolResult(record.result ?? 'null')) };
    case 'failed':
      return { error: JSON.parse(record.error ?? '{"code":-32603,"message":"The tool failed"}') };
    default:
      return {};
  }
}

/** A CallToolResult inside a task keeps its `resultType`. */
function completedResult(result: ToolResult): object {
  return { ...result, resultType: 'complete' };
}
