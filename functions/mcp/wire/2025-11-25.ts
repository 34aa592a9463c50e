import type { TaskRecord } from '../../tasks/record.ts';
import { isObject } from '../../tasks/shape.ts';
import type { InputRequest, ToolResult } from '../../tasks/tool-contract.ts';
import { IMMEDIATE_RESPONSE, RELATED_TASK } from '../protocol/versions.ts';
import { errorSummary, ownMeta } from './tool-result.ts';
import type { TaskView, Wire } from './wire.ts';

/** The only place that knows the field names of 2025-11-25 (docs/protocol.md B, C). */
export const legacyWire: Wire = {
  marks: { legacy: true },
  taskByParam: true,
  asksOnStream: true,
  resumable: true,
  shows: { result: 'status' },
  cancelsEnded: false,
  paramHeaders: false,
  cache: {},
  uncached: {},
  result: (result) => result,
  tool: ({ name, title, description, inputSchema, outputSchema, annotations, taskSupport }) => ({
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema,
    ...(outputSchema?.type === 'object' && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
    ...(taskSupport !== 'forbidden' && { execution: { taskSupport } }),
  }),
  toolResult: legacyToolResult,
  taskCreated: (view, immediateResponse) => ({
    task: task(view),
    _meta: { [IMMEDIATE_RESPONSE]: immediateResponse },
  }),
  task,
  taskCancelled: task,
};

/** The answer of `tasks/result`: what a call without a task would return, plus the task (C-16, C-17). */
export function relatedResult(record: TaskRecord, result: ToolResult): object {
  const plain = legacyToolResult(result) as { _meta?: unknown };
  const _meta = { ...(isObject(plain._meta) && plain._meta), [RELATED_TASK]: { taskId: record.taskId } };
  return { ...plain, _meta };
}

/**
 * A question's params in this revision.
 *
 * @param name names a URL elicitation in its task
 * @param related the client knows the task, so `_meta` names it (C-21, F-09)
 */
export function questionParams(
  { params = {} }: InputRequest,
  record: TaskRecord,
  name: string,
  related: boolean,
): object {
  const { _meta, task: _, ...rest } = params;
  const meta = {
    ...(isObject(_meta) && ownMeta(_meta)),
    ...(related && { [RELATED_TASK]: { taskId: record.taskId } }),
  };
  return {
    ...rest,
    ...(params.mode === 'url' && params.elicitationId === undefined && { elicitationId: elicitationId(record, name) }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

const elicitationId = ({ taskId }: TaskRecord, name: string): string => `${taskId}.${name}`;

/** Says that what a URL elicitation asked for is over: the client need not wait for it (B-18). */
export const elicitationComplete = (record: TaskRecord, name: string): object => ({
  jsonrpc: '2.0',
  method: 'notifications/elicitation/complete',
  params: { elicitationId: elicitationId(record, name) },
});

function legacyToolResult(result: ToolResult): object {
  const { resultType: _, structuredContent, ...rest } = result as ToolResult & { resultType?: unknown };
  return { ...rest, ...(isObject(structuredContent) && { structuredContent }) };
}

function task({ record, pollInterval }: TaskView) {
  const failedResult = record.status === 'completed' && record.isError === true;
  const statusMessage = failedResult ? errorSummary(record) : record.statusMessage;
  return {
    taskId: record.taskId,
    status: failedResult ? 'failed' : record.status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(record.createdAt).toISOString(),
    lastUpdatedAt: new Date(record.updatedAt).toISOString(),
    ttl: record.ttl,
    pollInterval,
  };
}
