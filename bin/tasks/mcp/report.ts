import type { Outcome } from '../../../functions/operator/acts/act.ts';
import type { Explanation } from '../../../functions/operator/explain/index.ts';
import type { FoundLogs } from '../../../functions/operator/logs.ts';
import type { Story, Unreadable } from '../../../functions/operator/show.ts';
import type { shownPage } from '../reads.ts';
import { oneLine } from '../text.ts';

/** The answer of a tool. */
export interface Report {
  /** One line in the words of this server. */
  readonly text: string;
  /** The data that `--json` prints; the one outcome for an act. */
  readonly data: object;
  /** Whether the act was not done. */
  readonly failed?: boolean;
}

/** The most log lines of one answer, the latest: more would fill the context of a model. */
const LINES = 200;

export function listed(page: ReturnType<typeof shownPage>): Report {
  const found = page.tasks.length === 0 ? 'No task' : counted(page.tasks.length, 'task');
  return { text: page.cursor === undefined ? `${found}.` : `${found}. There are more: give the cursor.`, data: page };
}

export function shown(story: Story | Unreadable): Report {
  if ('unreadable' in story) {
    return { text: `Task ${story.taskId} was stored by another release of the server.`, data: story };
  }
  const { taskId, status, seenAs, round } = story;
  const seen = seenAs === undefined ? '' : ` (readers see: ${seenAs})`;
  return { text: `Task ${taskId} is ${status}${seen}, in round ${round}.`, data: story };
}

export const explained = (data: Explanation): Report => ({
  text: `Task ${data.taskId} is ${data.status}: ${data.cause}.`,
  data,
});

export function logged({ lines, hidden }: FoundLogs): Report {
  const left = lines.length - LINES;
  const data =
    left > 0 ? { lines: lines.slice(-LINES), hidden: [...hidden, `${left} older lines`] } : { lines, hidden };
  return { text: `${lines.length === 0 ? 'No line' : counted(data.lines.length, 'line')}.`, data };
}

export const subscribed = (data: { readonly owner: string; readonly subscriptions: readonly object[] }): Report => ({
  text: `${data.owner} has ${counted(data.subscriptions.length, 'subscription')}.`,
  data,
});

export const acted = (outcome: Outcome): Report => ({
  text: oneLine(outcome.message),
  data: outcome,
  failed: !outcome.done,
});

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
