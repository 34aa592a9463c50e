import type { Outcome } from '../../../functions/operator/acts/act.ts';
import type { BulkReport } from '../../../functions/operator/acts/bulk.ts';
import type { Explanation } from '../../../functions/operator/explain/index.ts';
import type { ListPage } from '../../../functions/operator/list.ts';
import type { FoundLogs } from '../../../functions/operator/logs.ts';
import type { Story, Unreadable } from '../../../functions/operator/show.ts';
import type { TaskVerb } from '../options.ts';
import { oneLine } from '../text.ts';

/** What a tool answers. */
export interface Report {
  /** One line in the words of this server. */
  readonly text: string;
  /** As `--json` prints it; of an act, that of its one task. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Log lines of one answer, the latest ones: more would fill the context of a model. */
const LINES = 200;

/** @param printed what the verb printed with `--json` */
export function reportOf(verb: TaskVerb, printed: string): Report {
  const data = JSON.parse(printed);
  switch (verb) {
    case 'list':
      return { text: listed(data), data };
    case 'show':
      return { text: shown(data), data };
    case 'explain':
      return { text: explained(data), data };
    case 'logs':
      return logged(data);
    default:
      return acted(data);
  }
}

function listed({ tasks, cursor }: ListPage): string {
  const found = tasks.length === 0 ? 'No task' : counted(tasks.length, 'task');
  return cursor === undefined ? `${found}.` : `${found}. There are more: give the cursor.`;
}

function shown(story: Story | Unreadable): string {
  if ('unreadable' in story) return `Task ${story.taskId} was stored by another release of the server.`;
  const { taskId, status, seenAs, round } = story;
  return `Task ${taskId} is ${status}${seenAs === undefined ? '' : ` (readers see: ${seenAs})`}, in round ${round}.`;
}

const explained = ({ taskId, status, cause }: Explanation): string => `Task ${taskId} is ${status}: ${cause}.`;

function logged({ lines, hidden }: FoundLogs): Report {
  const left = lines.length - LINES;
  const data =
    left > 0 ? { lines: lines.slice(-LINES), hidden: [...hidden, `${left} older lines`] } : { lines, hidden };
  return { text: `${lines.length === 0 ? 'No line' : counted(data.lines.length, 'line')}.`, data };
}

function acted(report: BulkReport | Outcome): Report {
  const outcome = 'succeeded' in report ? [...report.succeeded, ...report.failed][0] : report;
  if (outcome === undefined) throw new Error('The verb has reported no task');
  return { text: oneLine(outcome.message), data: { ...outcome } };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
