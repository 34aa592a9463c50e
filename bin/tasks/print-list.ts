import type { ListPage } from '../../functions/operator/list.ts';
import { errorOf, recordOf, seenNow } from '../../functions/operator/view.ts';
import type { TaskRecord } from '../../functions/tasks/record.ts';
import type { StoredTask } from '../../functions/tasks/table/operator-reads.ts';
import { failVisibleAt, isTerminal } from '../../functions/tasks/transitions/change.ts';
import { waitMessage } from '../../functions/tasks/waits/waits.ts';
import { oneLine, span, table } from './text.ts';

const HEAD = ['TASK', 'TOOL', 'STATUS', 'AGE', 'ENDS IN', 'ROUND', 'NOTE'];

export function listText({ tasks, cursor }: ListPage, now: number): string {
  if (tasks.length === 0) return cursor === undefined ? 'No task.' : more(cursor);
  const rows = tasks.map((task) => row(task, now));
  return [table([HEAD, ...rows]), ...(cursor === undefined ? [] : [more(cursor)])].join('\n');
}

const more = (cursor: string): string => oneLine(`There are more: --cursor ${cursor}`);

function row(stored: StoredTask, now: number): string[] {
  const { taskId, tool, status, createdAt } = stored;
  const record = recordOf(stored);
  const age = typeof createdAt === 'number' ? span(now - createdAt) : '';
  if (record === undefined) return [taskId, String(tool), String(status), age, '', '', 'of another release'];
  const seen = seenNow(record, now);
  const endsBy = isTerminal(record.status) ? undefined : failVisibleAt(record);
  const left = endsBy === undefined ? '' : `${span(endsBy - now)}${endsBy < now ? ' ago' : ''}`;
  return [taskId, record.tool, record.status, age, left, String(record.round), noteOf(record, seen?.status)];
}

/** A few words on a task in a list. */
export function noteOf(record: TaskRecord, seenAs: string | undefined): string {
  if (seenAs === undefined) return 'past its ttl';
  if (seenAs !== record.status) return `readers see ${seenAs}`;
  if (record.isError === true) return 'the tool returned an error';
  if (record.status === 'waiting') return waitMessage(record) ?? '';
  const error = errorOf(record);
  return error?.reason ?? error?.message ?? '';
}
