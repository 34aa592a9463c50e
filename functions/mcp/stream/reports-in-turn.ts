import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import type { TaskStore } from '../../tasks/table/store.ts';

/** Adds reports to records that were read at a cost of `units`. */
export type AddReports = (records: readonly TaskRecord[], units: number) => Promise<TaskRecord[]>;

/**
 * Reads the reports of the tasks of one stream, at half a unit each, as far as `limits.listenUnits` leaves room beside the
 * records: first the reports that were read longest ago. A task whose report is not read this time is shown without it.
 */
export function reportsInTurn(store: Pick<TaskStore, 'withReports'>): AddReports {
  const readAt = new Map<string, number>();
  const turnOf = ({ taskId }: TaskRecord): number => readAt.get(taskId) ?? 0;
  let turn = 0;
  return async (records, units) => {
    turn++;
    const working = records.filter(({ status }) => status === 'working').sort((a, b) => turnOf(a) - turnOf(b));
    const chosen = working.slice(0, Math.max(0, 2 * (limits.listenUnits - units)));
    for (const { taskId } of chosen) readAt.set(taskId, turn);
    const read = new Map((await store.withReports(chosen)).map((record) => [record.taskId, record]));
    return records.map((record) => read.get(record.taskId) ?? record);
  };
}
