import type { Client } from '@modelcontextprotocol/client';
import {
  resultFromTaskOutcome,
  type TaskEnabledSession,
  type TaskExecutionEvent,
  type ToolExecution,
  taskViewFromExecutionEvent,
  withTasks,
} from '@modelcontextprotocol/ext-tasks/client';
import type { JsonValue, TaskId } from '@modelcontextprotocol/ext-tasks/core';
import { type CallOptions, KEY, NO_ANSWER, type Question, type TaskOptions, type ToolResult } from './options.ts';
import { portOf } from './port.ts';

/** Calls a tool in 2026-07-28, by the official tasks package, with a separate port for each call. */
export function callTask(client: Client, name: string, args: object, options: CallOptions): Promise<ToolResult> {
  const { idempotencyKey } = options;
  const metadata = idempotencyKey === undefined ? {} : { metadata: { [KEY]: idempotencyKey } };
  const params = args as Readonly<Record<string, JsonValue>>;
  return settle(client, options, (session, signal) => session.callTool(name, params, { signal, ...metadata }));
}

export function resumeTask(client: Client, id: string, options: TaskOptions): Promise<ToolResult> {
  const taskId = id as TaskId;
  const task = { generation: 'v2', taskId, originalOperation: 'tools/call' } as const;
  const begin = (session: TaskEnabledSession, signal: AbortSignal) =>
    session.resumeTask({ endpointId: session.endpointId, ...task }, { signal });
  return settle(client, options, begin, taskId);
}

async function settle(
  client: Client,
  { signal, onTask, onProgress, onQuestion }: TaskOptions,
  begin: (session: TaskEnabledSession, signal: AbortSignal) => Promise<ToolExecution<unknown>>,
  resumed?: TaskId,
): Promise<ToolResult> {
  const given = new AbortController();
  const session = withTasks(portOf(client, onQuestion === undefined ? {} : { elicitation: { form: {}, url: {} } }), {
    // The server decides whether a call becomes a task, so the list of tools is not needed.
    tools: { currentTool: () => undefined },
    async onInputRequest({ params }) {
      try {
        if (onQuestion === undefined) throw new Error(NO_ANSWER);
        return (await onQuestion(params as unknown as Question)) as never;
      } catch (error) {
        // After an error the package would answer "cancel", and the question would be closed.
        given.abort(error);
        return new Promise<never>(() => {});
      }
    },
  });
  const waiting = signal === undefined ? given.signal : AbortSignal.any([given.signal, signal]);
  let execution: ToolExecution<unknown> | undefined;
  try {
    execution = await begin(session, waiting);
    if (execution.handle !== undefined) await onTask?.(execution.handle.taskId);
    const onEvent = changes(onProgress);
    const { outcome } = await execution.settle({ signal: waiting, ...(onEvent && { onEvent }) });
    return resultFromTaskOutcome(outcome) as ToolResult;
  } catch (error) {
    const taskId = execution?.handle?.taskId ?? resumed;
    // A cancel that fails does not hide why the call ended. The server ends the task at its deadline.
    if (signal?.aborted && taskId !== undefined) await session.cancelTask(taskId).catch(() => undefined);
    throw waiting.aborted ? waiting.reason : error;
  } finally {
    await execution?.detach();
  }
}

function changes(onProgress: TaskOptions['onProgress']): ((event: TaskExecutionEvent<unknown>) => void) | undefined {
  if (onProgress === undefined) return undefined;
  let last: string | undefined;
  return (event) => {
    const task = taskViewFromExecutionEvent(event);
    const now = `${task?.status} ${task?.statusMessage}`;
    if (task === undefined || now === last) return;
    last = now;
    const { taskId, status, statusMessage } = task;
    onProgress({ taskId, status, ...(statusMessage !== undefined && { message: statusMessage }) });
  };
}
