import { outstanding } from '../../tasks/input.ts';
import type { Questions } from '../../tasks/questions/question.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isObject } from '../../tasks/shape.ts';
import type { Manifest } from '../manifest.ts';
import type { RequestId } from '../protocol/jsonrpc.ts';
import { meta } from '../protocol/versions.ts';
import { ownMeta, toolResult } from './tool-result.ts';
import type { ModernWire, TaskView } from './wire.ts';

/** How long a client may keep what rarely changes; `ttlMs` in milliseconds (D-16). */
const CACHE = { ttlMs: 300_000, cacheScope: 'public' } as const;

/** The only place that knows the field names of 2026-07-28 and its tasks extension (docs/protocol.md D, E). */
export function modernWire(serverInfo: Manifest['serverInfo']): ModernWire {
  const complete = (result: object, resultType = 'complete') => withMeta({ ...result, resultType }, serverInfo);
  return {
    marks: { legacy: false },
    taskByParam: false,
    asksOnStream: false,
    resumable: false,
    shows: { questions: true, result: 'shown' },
    cancelsEnded: true,
    paramHeaders: true,
    cache: CACHE,
    uncached: { ttlMs: 0, cacheScope: 'private' },
    result: complete,
    tool: ({ name, title, description, inputSchema, outputSchema, annotations }) => ({
      name,
      ...(title !== undefined && { title }),
      description,
      inputSchema,
      ...(outputSchema !== undefined && { outputSchema }),
      ...(annotations !== undefined && { annotations }),
    }),
    toolResult: (result) => complete(result),
    taskCreated: (view) => complete(task(view), 'task'),
    task: (view) => complete({ ...task(view), ...details(view.record) }),
    taskCancelled: () => complete({}),
    questions: questionShapes,
    acknowledged: (listenId, taskIds) =>
      notification('notifications/subscriptions/acknowledged', listenId, {
        notifications: taskIds === undefined ? {} : { taskIds },
      }),
    taskNotification: (listenId, view) =>
      notification('notifications/tasks', listenId, { ...task(view), ...details(view.record) }),
    listenEnded: (listenId) =>
      withMeta({ resultType: 'complete', _meta: { [meta.subscriptionId]: listenId } }, serverInfo),
  };
}

/** Questions in the shape of this revision: URL mode has no elicitationId (D-34), and a question is never a task. */
function questionShapes(questions: Questions): Questions {
  const shapes = Object.entries(questions).map(([key, { method, params }]) => {
    const { elicitationId: _, task: _task, _meta, ...rest } = params ?? {};
    const shape = { ...rest, ...(isObject(_meta) && { _meta: ownMeta(_meta) }) };
    return [key, { method, ...(params !== undefined && { params: shape }) }] as const;
  });
  return Object.fromEntries(shapes);
}

function notification(method: string, listenId: RequestId, params: object): object {
  return { jsonrpc: '2.0', method, params: { ...params, _meta: { [meta.subscriptionId]: listenId } } };
}

function withMeta(result: object, serverInfo: Manifest['serverInfo']): object {
  const { _meta } = result as { _meta?: unknown };
  return { ...result, _meta: { ...(isObject(_meta) && _meta), [meta.serverInfo]: serverInfo } };
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

/** The fields that a DetailedTask adds in each status (E-11 to E-13). */
function details(record: TaskRecord): object {
  switch (record.status) {
    case 'input_required':
      return { inputRequests: questionShapes(outstanding(record)) };
    case 'completed':
      // A CallToolResult inside a task keeps its `resultType`.
      return { result: { ...toolResult(record.result ?? 'null'), resultType: 'complete' } };
    case 'failed':
      return { error: JSON.parse(record.error ?? '{"code":-32603,"message":"The tool failed"}') };
    default:
      return {};
  }
}
