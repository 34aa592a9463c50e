import type { TaskChange } from './changes.ts';

export const SOURCE = 'mcp-task-server';
export const DETAIL_TYPE = 'Task Status Change';

/** The detail of a `Task Status Change` on EventBridge: docs/events.md. */
export interface TaskStatusChange {
  readonly version: '1';
  /** The same id for every delivery of this change: drop an event whose id you know. */
  readonly id: string;
  /** The name of the server. */
  readonly server: string;
  readonly taskId: string;
  /** A hash of the caller. Left out for a task of an anonymous caller without a session. */
  readonly owner?: string | undefined;
  readonly tool: string;
  readonly status: string;
  /** Left out for a new task. */
  readonly previousStatus?: string | undefined;
  /** The round: 1, then one more each time the work goes on after answers or waits. */
  readonly round: number;
  /** ISO 8601, in UTC. */
  readonly createdAt: string;
  readonly changedAt: string;
  /** Set for a completed task if the tool called its result an error. */
  readonly isError?: true | undefined;
  /** The name of the error of a failed task, if it has one. */
  readonly reason?: string | undefined;
  /** The trace of the call that created the task. Left out if the call named none. */
  readonly traceparent?: string | undefined;
}

/** An entry of PutEvents, without the bus; undefined for a change that moves nothing. */
export function statusChangeEntry({ task, moved }: TaskChange, server: string) {
  if (moved === undefined) return undefined;
  const { owner, taskId, tool, createdAt, updatedAt, isError, reason, traceparent } = task;
  const detail: TaskStatusChange = {
    version: '1',
    id: moved.id,
    server,
    taskId,
    owner: owner.startsWith('task#') ? undefined : owner,
    tool,
    status: moved.to,
    previousStatus: moved.from,
    round: moved.round,
    createdAt: new Date(createdAt).toISOString(),
    changedAt: new Date(updatedAt).toISOString(),
    // A new task whose arguments were refused has ended already, and its first event is about its creation.
    isError: (moved.to === 'completed' && isError) || undefined,
    reason,
    traceparent,
  };
  return {
    Source: SOURCE,
    DetailType: DETAIL_TYPE,
    Detail: JSON.stringify(detail),
    // AWS's JSON protocol writes a time as seconds since the epoch.
    Time: updatedAt / 1_000,
  };
}
