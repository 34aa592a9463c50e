import {
  DescribeExecutionCommand,
  type ExecutionStatus,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  ListExecutionsCommand,
} from '@aws-sdk/client-sfn';
import { openState } from '../tasks/aws/execution-history.ts';
import { engineOf, traitsOf } from '../tasks/engines.ts';
import { executionArnOf, executionName, isOlder } from '../tasks/ids.ts';
import { isErrorName } from '../tasks/log.ts';
import type { TaskRecord } from '../tasks/record.ts';
import type { ServerFacts, States } from './context.ts';
import type { StateVisit } from './states.ts';

/** What Step Functions says of one round of a task. */
export interface RunFacts {
  readonly round: number;
  readonly executionArn: string;
  /** `missing`: there is no such execution. `unknown`: the credentials may not ask. */
  readonly status: 'missing' | 'unknown' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  /** In ms since the epoch, as `stoppedAt`. */
  readonly startedAt?: number;
  readonly stoppedAt?: number;
  /** The name of the error that ended it. */
  readonly error?: string;
  readonly state?: string;
  /** Attempts at its work that failed, the oldest first. */
  readonly failures: readonly { readonly at: number; readonly error: string }[];
  /** When its tool worked, each attempt, the oldest first. Without `to`: it still does. Undefined: not known. */
  readonly attempts?: readonly Attempt[];
  /** Of a tool that is a state machine: the states that it has visited. Undefined: not known. */
  readonly visits?: readonly StateVisit[];
}

/** In ms since the epoch. */
export interface Attempt {
  readonly from: number;
  readonly to?: number;
}

/** Events of one execution that are read, the newest: GetExecutionHistory returns no more at once. */
const EVENTS = 1_000;
/** Executions of one tool that a search without the right to describe them reads. */
const LISTED = 1_000;

/** The run of one round, without what it got and returned. */
export async function runOf(
  record: Pick<TaskRecord, 'taskId' | 'createdAt'>,
  round: number,
  machineArn: string,
  states: States,
): Promise<RunFacts> {
  const executionArn = executionArnOf({ taskId: record.taskId, round }, machineArn);
  const run = { round, executionArn, failures: [] };
  try {
    const described = await states.send(new DescribeExecutionCommand({ executionArn, includedData: 'METADATA_ONLY' }));
    if (isOlder(described.startDate?.getTime(), record)) return { ...run, status: 'missing' };
    return { ...run, ...factsOf(described), ...(await historyOf(executionArn, states)) };
  } catch (error) {
    const { name } = error as Error;
    if (name === 'ExecutionDoesNotExist') return { ...run, status: 'missing' };
    if (!isDenied(error)) throw error;
    return { ...run, ...(await listedRun(record, round, machineArn, states)) };
  }
}

export const machineArnOf = (record: TaskRecord, { machineArnPrefix }: ServerFacts): string =>
  machineArnPrefix + engineOf(record);

/**
 * Where runs without a history leave a trace: the log group of their workflow, as `lib/tools/tool-workflow.ts` names it.
 * Undefined if the engine has a history.
 */
export const runLogsOf = (record: TaskRecord, server: ServerFacts): string | undefined =>
  traitsOf(record).hasHistory ? undefined : `/aws/vendedlogs/states/${machineArnOf(record, server).split(':').at(-1)}`;

export const isDenied = (error: unknown): boolean => /AccessDenied/.test((error as Error).name);

interface Found {
  readonly status?: ExecutionStatus | undefined;
  readonly startDate?: Date | undefined;
  readonly stopDate?: Date | undefined;
  readonly error?: string | undefined;
}

function factsOf({ status = 'RUNNING', startDate, stopDate, error }: Found) {
  return {
    status: status === 'PENDING_REDRIVE' ? ('RUNNING' as const) : status,
    ...(startDate !== undefined && { startedAt: startDate.getTime() }),
    ...(stopDate !== undefined && { stoppedAt: stopDate.getTime() }),
    ...(isErrorName(error) && { error }),
  };
}

/** What runs a tool: a function, or a state machine. The other tasks of a workflow are the server's own. */
const TOOLS: readonly unknown[] = ['lambda', 'states'];

async function historyOf(
  executionArn: string,
  states: States,
): Promise<Pick<RunFacts, 'failures' | 'state' | 'attempts'>> {
  const newest = { maxResults: EVENTS, reverseOrder: true, includeExecutionData: false };
  const { events = [] } = await states.send(new GetExecutionHistoryCommand({ executionArn, ...newest }));
  const failures = events
    .flatMap(({ timestamp, ...event }) => {
      const details =
        event.taskFailedEventDetails ?? event.taskSubmitFailedEventDetails ?? event.taskTimedOutEventDetails;
      if (details === undefined) return [];
      return [{ at: timeOf(timestamp), error: isErrorName(details.error) ? details.error : 'Error' }];
    })
    .reverse();
  const state = openState(events);
  return { failures, attempts: attemptsIn(events), ...(state && { state: state.name }) };
}

const timeOf = (timestamp: Date | undefined): number => timestamp?.getTime() ?? 0;

/** `events` from the newest to the oldest. */
function attemptsIn(events: readonly HistoryEvent[]): Attempt[] {
  const attempts: { from: number; to?: number }[] = [];
  for (const event of events.toReversed()) {
    const at = timeOf(event.timestamp);
    if (TOOLS.includes(event.taskScheduledEventDetails?.resourceType)) attempts.push({ from: at });
    const over = event.taskSucceededEventDetails ?? event.taskFailedEventDetails ?? event.taskTimedOutEventDetails;
    const last = attempts.at(-1);
    if (over !== undefined && last !== undefined) last.to ??= at;
  }
  return attempts;
}

/** By the list of executions, which holds no payload: the read policy allows it. */
async function listedRun(
  record: Pick<TaskRecord, 'taskId' | 'createdAt'>,
  round: number,
  stateMachineArn: string,
  states: States,
) {
  const name = executionName(record.taskId, round);
  try {
    const list = new ListExecutionsCommand({ stateMachineArn, maxResults: LISTED });
    const { executions = [], nextToken } = await states.send(list);
    const found = executions.find((execution) => execution.name === name);
    if (found !== undefined)
      return isOlder(found.startDate?.getTime(), record) ? { status: 'missing' as const } : factsOf(found);
    // AWS may return fewer than it was asked for although there are more: a rerun must not take that for no run.
    const complete = nextToken === undefined && executions.length < LISTED;
    return { status: complete ? ('missing' as const) : ('unknown' as const) };
  } catch (error) {
    if (isDenied(error)) return { status: 'unknown' as const };
    throw error;
  }
}
