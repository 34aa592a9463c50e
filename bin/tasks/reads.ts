import type { OperatorContext } from '../../functions/operator/context.ts';
import { findTask } from '../../functions/operator/find.ts';
import { type ListFilter, type ListPage, list } from '../../functions/operator/list.ts';
import { type FoundLogs, logsOf } from '../../functions/operator/logs.ts';
import { recordOf } from '../../functions/operator/view.ts';
import { UsageError } from './usage-error.ts';
import { duration } from './values.ts';

/** Reads that the command, its MCP server and the page share. */

/** The most empty pages that a list skips. */
const EMPTY_PAGES = 20;

/** Reads the first page with a task: a filter may leave pages empty. */
export async function firstFull(
  filter: ListFilter,
  from: string | undefined,
  context: OperatorContext,
): Promise<ListPage> {
  let page = await list(filter, from, context);
  for (let empty = 1; page.tasks.length === 0 && page.cursor !== undefined && empty < EMPTY_PAGES; empty++) {
    page = await list(filter, page.cursor, context);
  }
  return page;
}

/** The page as JSON shows it. */
export const shownPage = (page: ListPage): Omit<ListPage, 'tasks'> & { readonly tasks: readonly object[] } => ({
  ...page,
  tasks: page.tasks.map((task) => recordOf(task) ?? task),
});

/** Log lines of one task, or of a part of the server. */
export interface WantedLogs {
  readonly taskId?: string | undefined;
  readonly owner?: string | undefined;
  readonly part?: string | undefined;
  /** How far back to read, with `part`. @default 15m */
  readonly since?: string | undefined;
  readonly payload: boolean;
}

/** Returns a function that reads the lines. Throws UsageError, OperatorError. */
export async function logsReader(wanted: WantedLogs, context: OperatorContext): Promise<() => Promise<FoundLogs>> {
  const { taskId, owner, part, since = '15m', payload } = wanted;
  const parts = Object.keys(context.server.logGroups);
  if (part !== undefined && !parts.includes(part))
    throw new UsageError(`--part is one of ${parts.join(', ')}, not '${part}'`);
  if ((part === undefined) === (taskId === undefined)) throw new UsageError('logs takes the id of one task, or --part');
  if (part !== undefined && owner !== undefined)
    throw new UsageError('--part reads lines of all owners: give no --owner with it');
  const from = context.now() - duration('--since', since);
  const key = taskId === undefined ? undefined : await findTask(taskId, owner, context.reads);
  return () => logsOf(key, { ...(part && { part, from }), payload }, context);
}
