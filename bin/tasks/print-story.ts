import type { Moment } from '../../functions/operator/moments.ts';
import type { Story, Unreadable } from '../../functions/operator/show.ts';
import { clock, fields, moment, pretty, span, table } from './text.ts';

export function storyText(story: Story | Unreadable, now: number): string {
  if ('unreadable' in story) {
    return `Task ${story.taskId} was stored by another release of the server. What it holds:\n${pretty(story.stored, '  ')}`;
  }
  const { status, seenAs, round, createdAt, deadlineAt, endsBy, readableUntil, error, progress, payload, links } =
    story;
  return [
    `Task ${story.taskId}`,
    fields({
      tool: story.tool,
      status: `${status}${seenAs === undefined ? '' : ` (readers see: ${seenAs})`}${story.isError === true ? ', an error of the tool' : ''}`,
      round: String(round),
      owner: story.owner,
      created: `${moment(createdAt)}, ${span(now - createdAt)} ago`,
      deadline: `${moment(deadlineAt)}${deadlineAt > now ? `, in ${span(deadlineAt - now)}` : ''}`,
      'ends by': endsBy === undefined ? undefined : moment(endsBy),
      'readable until': moment(readableUntil),
      error: error && `${error.message}${error.reason === undefined ? '' : ` (${error.reason})`}`,
      progress: progress && progressText(progress, now),
      'rerun of': story.rerunOf,
    }),
    'What happened (UTC)',
    table(story.happened.map(momentRow)),
    ...(payload === undefined
      ? ['Arguments, questions, answers and result are hidden: --payload shows them']
      : Object.entries(payload).map(([name, value]) => `${name}\n${pretty(value, '  ')}`)),
    ...(links.execution === undefined ? [] : [`Execution  ${links.execution}`]),
    ...(links.runLogs === undefined
      ? []
      : [`Runs       on Express, without a history: see the log group ${links.runLogs}`]),
    ...(links.logs === undefined ? [] : [`Logs       ${links.logs}`]),
    `Why        mcp-task-server tasks explain ${story.taskId}`,
  ].join('\n');
}

function momentRow({ at, what, round, by, who, reason, error }: Moment): string[] {
  const why = [error, by && `by ${by}`, who, reason && `“${reason}”`].filter(Boolean).join(', ');
  return [`  ${clock(at)}`, what, round === undefined ? '' : `round ${round}`, why];
}

function progressText({ at, done, of, message }: NonNullable<Story['progress']>, now: number): string {
  const counted = done === undefined ? '' : `${done}${of === undefined ? '' : ` of ${of}`}, `;
  return `${counted}reported ${span(now - at)} ago${message === undefined ? '' : `: ${message}`}`;
}
