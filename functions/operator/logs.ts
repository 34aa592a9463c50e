import { FilterLogEventsCommand, type FilterLogEventsCommandInput } from '@aws-sdk/client-cloudwatch-logs';
import type { TaskKey } from '../tasks/record.ts';
import { readRecord } from './acts/act.ts';
import type { OperatorContext } from './context.ts';
import { isDenied, runLogsOf } from './runs.ts';

export interface LogLine {
  /** In ms since the epoch. */
  readonly at: number;
  /** `endpoint`, `reconciler`, `events`, the name of the tool, or `runs`: of its workflow. */
  readonly source: string;
  readonly line: string;
}

export interface FoundLogs {
  /** The oldest first. */
  readonly lines: readonly LogLine[];
  /** What was left out, and why. */
  readonly hidden: readonly string[];
}

/** A search in one log group goes on for so many lines, and so long, in ms. A page of AWS may have no line, and more behind it. */
const LINES = 10_000;
const SEARCHES = 20_000;
/** Before the same page is asked for again, in ms. AWS gives an account 5 to 10 pages a second. */
const PAUSE = 1_000;
/** AWS reads newer lines first from this time on only, in ms (API reference of FilterLogEvents, startFromHead). */
const NEWEST_FIRST = Date.UTC(2024, 0);
/** The endpoint writes a line before the task has its time. In ms. */
const BEFORE = 5_000;

/**
 * The log lines that name a task: the server's, which hold nothing that a client or a tool wrote, and with `payload` the
 * tool's. Or the latest lines of one part of the server, from a time on. Throws OperatorError.
 */
export async function logsOf(
  key: TaskKey | undefined,
  { part, from, payload }: { readonly part?: string; readonly from?: number; readonly payload: boolean },
  context: OperatorContext,
): Promise<FoundLogs> {
  const { logGroups, tools } = context.server;
  const record = key && (await readRecord(key, false, context));
  const tool = record && tools.get(record.tool);
  const groups = Object.entries(logGroups).filter(([name]) => part === undefined || name === part);
  const hidden: string[] = [];
  if (record !== undefined && tool?.logGroup === undefined)
    hidden.push('the lines of its tool: its log group is not known');
  else if (record !== undefined && !payload) hidden.push('the lines of its tool: --payload shows them');
  else if (record !== undefined && tool?.logGroup !== undefined) groups.push([record.tool, tool.logGroup]);
  const runs = record && runLogsOf(record, context.server);
  if (runs !== undefined && payload) groups.push(['runs', runs]);
  else if (runs !== undefined) hidden.push(`the lines of its runs (log group ${runs}): --payload shows them`);
  const startTime = from ?? (record?.createdAt ?? 0) - BEFORE;
  const search = record
    ? { startTime, filterPattern: `"${record.taskId}"` }
    : { startTime: Math.max(startTime, NEWEST_FIRST), startFromHead: false };
  const found = await Promise.all(
    groups.map(async ([source, logGroupName]) => {
      try {
        const { lines, isWhole } = await linesOf({ logGroupName, ...search }, source, context);
        if (!isWhole)
          hidden.push(`${record ? 'later' : 'earlier'} lines of ${source}: a search ends after 10,000 lines or 20 s`);
        return lines;
      } catch (error) {
        if (!isDenied(error)) throw error;
        hidden.push(`the lines of ${source}: your credentials may not read them`);
        return [];
      }
    }),
  );
  return { lines: found.flat().toSorted((a, b) => a.at - b.at), hidden };
}

/** The lines, in the order of their times, and whether these are all. */
async function linesOf(query: FilterLogEventsCommandInput, source: string, { logs, now, sleep }: OperatorContext) {
  const lines: LogLine[] = [];
  const end = now() + SEARCHES;
  let nextToken: string | undefined;
  let isWhole = false;
  while (!isWhole && lines.length < LINES && now() < end) {
    try {
      const found = await logs.send(new FilterLogEventsCommand({ ...query, nextToken }));
      for (const { timestamp = 0, message = '' } of found.events ?? []) {
        // Those that CloudWatch makes metrics of.
        if (!message.startsWith('{"_aws":')) lines.push({ at: timestamp, source, line: message.trimEnd() });
      }
      nextToken = found.nextToken;
      isWhole = nextToken === undefined;
    } catch (error) {
      if ((error as Error).name !== 'ThrottlingException') throw error;
      await sleep(PAUSE);
    }
  }
  return { lines: query.startFromHead === false ? lines.reverse() : lines, isWhole };
}
