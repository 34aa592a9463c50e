import type { Audit, Facts } from '../audit.ts';
import { isErrorName } from '../log.ts';
import type { TaskKey, TaskRecord } from '../record.ts';
import { type Change, isTerminal } from '../transitions.ts';
import type { TaskStore } from './store.ts';

/** Marks that one container keeps, to log each event once. */
const MOST = 10_000;

export interface Audited {
  readonly store: TaskStore;
  /**
   * A reader has read this record. Mostly the workflow writes that a task asks or has ended, and no code of this server
   * runs there. So it is logged here, once by each container that reads it.
   */
  readonly seen: (record: TaskRecord) => void;
}

/** Logs every write that matters to the owner of the task, and what others wrote when a reader sees it. */
export function audited(store: TaskStore, audit: Audit, by: 'endpoint' | 'reconciler'): Audited {
  const marks = new Set<string>();
  /** False when the mark exists. */
  const mark = ({ owner, taskId }: TaskKey, status: TaskRecord['status'], round: number): boolean => {
    const name = `${owner} ${taskId} ${isTerminal(status) ? 'over' : round}`;
    if (marks.has(name)) return false;
    marks.add(name);
    const [oldest] = marks;
    if (marks.size > MOST && oldest !== undefined) marks.delete(oldest);
    return true;
  };

  const logChange = (change: Change, about: TaskKey & Partial<TaskRecord>): void => {
    const { status, error } = change.set;
    const { answers = 0 } = change;
    if (answers > 0) audit('input_answered', { ...idsOf(about), answers });
    if (status === undefined || status === 'working') return;
    mark(about, status, about.round ?? 0);
    if (status === 'cancelled') audit('cancelled', idsOf(about));
    else if (status === 'input_required') audit('input_asked', { ...idsOf(about), round: about.round ?? 1 });
    else audit('finished', { ...idsOf(about), status, ...endFacts(error, by) });
  };

  const writes: TaskStore = {
    ...store,
    async create(record) {
      const created = await store.create(record);
      audit('created', { ...idsOf(record), ...(!created && { repeated: true }) });
      if (created && isTerminal(record.status)) {
        mark(record, record.status, record.round);
        audit('finished', { ...idsOf(record), status: record.status, isError: record.isError, by });
      }
      return created;
    },
    async apply(key, change) {
      const changed = await store.apply(key, change);
      if (changed !== undefined) logChange(change, changed);
      return changed;
    },
    async applyBlind(key, change) {
      const written = await store.applyBlind(key, change);
      if (written) logChange(change, key);
      return written;
    },
  };
  return {
    store: writes,
    seen(record) {
      const { status, round, isError, error } = record;
      if (status === 'working' || status === 'cancelled' || !mark(record, status, round)) return;
      if (status === 'input_required') return audit('input_asked', { ...idsOf(record), round });
      // Another container may have written a failure.
      const end = endFacts(error, status === 'completed' ? 'workflow' : undefined);
      audit('finished', { ...idsOf(record), status, ...(isError === true && { isError }), ...end });
    },
  };
}

const idsOf = ({ owner, taskId, tool }: TaskKey & Partial<TaskRecord>): Facts => ({ owner, taskId, tool });

function endFacts(error: string | undefined, by: Facts['by']): Pick<Facts, 'by' | 'reason'> {
  const { data } = JSON.parse(error ?? '{}') as { data?: { reason?: unknown } };
  const reason = isErrorName(data?.reason) ? data.reason : undefined;
  return { by: reason === 'DeadlineExceeded' ? 'deadline' : by, ...(reason !== undefined && { reason }) };
}
