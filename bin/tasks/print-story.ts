import type { Moment } from '../../functions/operator/moments.ts';
import type { Story, Unreadable } from '../../functions/operator/show.ts';
import { byState } from '../../functions/operator/states.ts';
import { utc } from '../../functions/operator/view.ts';
import { clock, fields, oneLine, pretty, span, table } from './text.ts';

export function storyText(story: Story | Unreadable, now: number): string {
  if ('unreadable' in story) {
    const head = oneLine(`Task ${story.taskId} was stored by another release of the server. What it holds:`);
    return `${head}\n${pretty(story.stored, '  ')}`;
  }
  const { status, seenAs, round, createdAt, deadlineAt, endsBy, readableUntil, error, progress, payload, links } =
    story;
  return [
    oneLine(`Task ${story.taskId}`),
    fields({
      tool: story.tool,
      status: `${status}${seenAs === undefined ? '' : ` (readers see: ${seenAs})`}${story.isError === true ? ', an error of the tool' : ''}`,
      round: String(round),
      owner: story.owner,
      created: `${utc(createdAt)}, ${span(now - createdAt)} ago`,
      'ends by': endsBy === undefined ? undefined : endText(endsBy, deadlineAt, now),
      'readable until': utc(readableUntil),
      error: error && `${error.message}${error.reason === undefined ? '' : ` (${error.reason})`}`,
      progress: progress && progressText(progress, now),
      'rerun of': story.rerunOf,
    }),
    ...(story.waits === undefined ? [] : ['It waits for', table(story.waits.map((wait) => waitRow(wait, now)))]),
    'What happened (UTC)',
    table(story.happened.map(momentRow)),
    ...statesOf(story, now),
    ...eventsOf(story, now),
    ...(payload === undefined
      ? ['Arguments, questions, answers and result are hidden: --payload shows them']
      : Object.entries(payload).map(([name, value]) => `${name}\n${pretty(value, '  ')}`)),
    ...linesOf(links).map(oneLine),
    oneLine(`Why        mcp-task-server tasks explain ${story.taskId}`),
  ].join('\n');
}

const linesOf = ({ execution, runLogs, logs }: Story['links']): string[] => [
  ...(execution === undefined ? [] : [`Execution  ${execution}`]),
  ...(runLogs === undefined ? [] : [`Runs       without a history: see the log group ${runLogs}`]),
  ...(logs === undefined ? [] : [`Logs       ${logs}`]),
];

/** The time by which a task ends, after all late writes. */
const endText = (endsBy: number, deadlineAt: number, now: number): string =>
  `${utc(endsBy)}, ${endsBy > now ? `in ${span(endsBy - now)}` : 'which is over'}: ${span(endsBy - deadlineAt)} after its deadline`;

function momentRow({ at, what, round, by, who, reason, error }: Moment): string[] {
  const why = [error, by && `by ${by}`, who, reason && `“${reason}”`].filter(Boolean).join(', ');
  return [`  ${clock(at)}`, what, round === undefined ? '' : `round ${round}`, why];
}

function waitRow({ name, kind, until, signalled }: NonNullable<Story['waits']>[number], now: number): string[] {
  const end = until === undefined ? 'at once' : `until ${utc(until)}${until > now ? `, in ${span(until - now)}` : ''}`;
  return [`  ${name}`, kind, signalled ? 'has its answer' : end];
}

/** One line for each round and each state of a state machine that is a tool. */
function statesOf({ runs }: Story, now: number): string[] {
  const rows = runs.flatMap(({ round, visits = [] }) =>
    byState(visits).map(({ name, visits: all, errors }) => {
      const took = all.reduce((sum, { from, to = now }) => sum + to - from, 0);
      const failed = errors.length === 0 ? '' : `${errors.length} failed (${[...new Set(errors)].join(', ')})`;
      const there = all.some(({ to }) => to === undefined) ? 'is there now' : '';
      return [`  ${name}`, `round ${round}`, `${all.length} x`, span(took), [failed, there].filter(Boolean).join(', ')];
    }),
  );
  return rows.length === 0 ? [] : ['What its state machine did', table(rows)];
}

/** One line for each event and subscription. */
function eventsOf({ deliveries = [], unreadEvents }: Story, now: number): string[] {
  const rows = deliveries.map(({ event, subscription, state, failedSince = now, lastError = '' }) => {
    const fails = state === 'fails' ? `for ${span(now - failedSince)}: ${lastError}` : '';
    return [`  ${event}`, subscription, state, fails];
  });
  const unread = unreadEvents ? ['  Only the newest 500 entries of the log of its owner were read'] : [];
  const lines = [...(rows.length > 0 ? [table(rows)] : []), ...unread];
  return lines.length === 0 ? [] : ['Its events', ...lines];
}

function progressText({ at, done, of, message }: NonNullable<Story['progress']>, now: number): string {
  const counted = done === undefined ? '' : `${done}${of === undefined ? '' : ` of ${of}`}, `;
  return `${counted}reported ${span(now - at)} ago${message === undefined ? '' : `: ${message}`}`;
}
