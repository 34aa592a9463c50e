import { changeId } from '../events/facts.ts';
import type { ChangeAction, Facts } from '../tasks/audit.ts';
import { isTerminal } from '../tasks/transitions/change.ts';
import type { Snapshot } from './snapshot.ts';

/** One thing that a committed write did to a task. */
export interface TaskChange {
  readonly action: ChangeAction;
  readonly facts: Facts;
  /** The record after the write. */
  readonly task: Snapshot;
  /** The record before it. Undefined: it is new. */
  readonly before: Snapshot | undefined;
  /** Set if the status or the round of the task changed: then EventBridge gets the change, too. */
  readonly moved?: Move;
}

export interface Move {
  /** See `changeId`. */
  readonly id: string;
  /** The status that readers saw before. Undefined for a new task. */
  readonly from: Snapshot['status'] | undefined;
  readonly to: Snapshot['status'];
  readonly round: number;
}

/**
 * The changes of one write, in order. A new record may already have ended, if its arguments were refused. The same write
 * gives the same changes, however often its stream record is delivered.
 */
export function changesOf(before: Snapshot | undefined, task: Snapshot): TaskChange[] {
  const { status, round } = task;
  const changes: TaskChange[] = [];
  const add = (action: ChangeAction, facts: Facts, moved?: Omit<Move, 'id'>) => {
    changes.push({
      action,
      facts: { ...idsOf(task), ...facts },
      before,
      task,
      ...(moved && { moved: { ...moved, id: changeId({ ...task, round: moved.round }, moved.to) } }),
    });
  };
  const from = before?.status ?? 'working';
  // This is a copy from another table. Its changes were published when they happened (docs/recovery.md).
  if (before === undefined && task.updatedAt !== task.createdAt) {
    add('restored', { status });
    return changes;
  }
  if (before === undefined) add('created', {}, { from: undefined, to: 'working', round: 1 });
  else if (isAnswered(before, task)) {
    const more = task.answers - before.answers;
    const resumed = status === 'working' ? ({ from, to: status, round } as const) : undefined;
    add('input_answered', more > 0 ? { answers: more } : {}, resumed);
  } else if (status === 'working' && from === 'waiting') add('resumed', { round }, { from, to: 'working', round });
  else if (task.signalled.length > before.signalled.length) add('signalled', { round });
  if (status === from || status === 'working') return changes;
  const moved = { from, to: status, round };
  if (status === 'waiting') add('waits', { round }, moved);
  else if (status === 'input_required') add('input_asked', { round }, moved);
  else if (status === 'cancelled') add('cancelled', byOf(task), moved);
  else {
    const isError = task.isError || undefined;
    add('finished', { status, isError, ...byOf(task), reason: task.reason }, moved);
  }
  return changes;
}

/** Whether answers arrived. Answers that move to S3 leave the record: then only the round or the events show them. */
function isAnswered(before: Snapshot, task: Snapshot): boolean {
  if (before.status === 'waiting') return false;
  const added = task.events.slice(before.events.length);
  return task.round > before.round || task.answers > before.answers || added.some(({ what }) => what === 'answered');
}

const idsOf = ({ owner, taskId, tool, traceparent }: Snapshot): Facts => ({
  owner,
  taskId,
  tool,
  traceId: traceparent?.split('-')[1],
});

/** The writer that ended the task, if the record's events name it. */
function byOf({ events, status, reason }: Snapshot): Pick<Facts, 'by'> {
  if (reason === 'DeadlineExceeded') return { by: 'deadline' };
  const last = events.at(-1);
  return last?.what === status && isTerminal(status) ? { by: last.by ?? 'workflow' } : {};
}
