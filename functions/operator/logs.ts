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

/** Lines of one log group, and pages that are read of it. */
const LINES = 1_000;
const PAGES = 10;
/** The endpoint writes a line before the task has its time. In ms. */
const BEFORE = 5_000;

/**
 * The log lines that name a task: the server's, which hold nothing that a client or a tool wrote, and with `payload` the
 * tool's. Or all lines of one part of the server, from a time on. Throws OperatorError.
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
  const found = await Promise.all(
    groups.map(async ([source, logGroupName]) => {
      const pattern = record && { filterPattern: `"${record.taskId}"` };
      try {
        return await linesOf({ logGroupName, startTime, ...pattern }, source, context);
      } catch (error) {
        if (!isDenied(error)) throw error;
        hidden.push(`the lines of ${source}: your credentials may not read them`);
        return [];
      }
    }),
  );
  return { lines: found.flat().toSorted((a, b) => a.at - b.at), hidden };
}

async function linesOf(
  query: FilterLogEventsCommandInput,
  source: string,
  { logs }: OperatorContext,
): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  let nextToken: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const found = await logs.send(new FilterLogEventsCommand({ ...query, limit: LINES, nextToken }));
    for (const { timestamp = 0, message = '' } of found.events ?? []) {
      // Those that CloudWatch makes metrics of.
      if (!message.startsWith('{"_aws":')) lines.push({ at: timestamp, source, line: message.trimEnd() });
    }
    nextToken = found.nextToken;
    if (nextToken === undefined) break;
  }
  return lines;
}
