import { traitsOf } from '../tasks/engines.ts';
import { withFileNames } from '../tasks/files/file.ts';
import { executionArnOf } from '../tasks/ids.ts';
import { limits } from '../tasks/limits.ts';
import type { Status, TaskKey, TaskRecord } from '../tasks/record.ts';
import type { Report, StoredTask } from '../tasks/table/operator-reads.ts';
import { failVisibleAt, isTerminal } from '../tasks/transitions/change.ts';
import type { OperatorContext } from './context.ts';
import { NotAllowed, OperatorError } from './errors.ts';
import { type Delivery, deliveriesOf } from './events/deliveries.ts';
import { type Moment, momentsOf } from './moments.ts';
import { type Payload, payloadOf, type WaitShown, waitsShown } from './payload.ts';
import { isDenied, machineArnOf, type RunFacts, runLogsOf, runOf } from './runs.ts';
import { type StateVisit, visitsOf } from './states.ts';
import { thrownIn } from './thrown.ts';
import { errorOf, recordOf, seenNow } from './view.ts';

/** All that is known of one task. Times in ms since the epoch. */
export interface Story {
  readonly taskId: string;
  readonly owner: string;
  readonly tool: string;
  readonly status: Status;
  /** The status that readers see, if it is another one. `gone`: its ttl is over. */
  readonly seenAs?: string;
  readonly round: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deadlineAt: number;
  /** When every reader sees an open task as ended, at the latest. */
  readonly endsBy?: number;
  /** Until when it can be read. */
  readonly readableUntil: number;
  /** What the client gets of a failure. */
  readonly error?: { readonly code?: number; readonly message: string; readonly reason?: string };
  readonly isError?: boolean;
  /** What its run reported last. */
  readonly progress?: Progress;
  readonly rerunOf?: string;
  /** What its round waits for. */
  readonly waits?: readonly WaitShown[];
  readonly happened: readonly Moment[];
  readonly runs: readonly RunFacts[];
  /** Where its MCP events are, for each live subscription that wants them. */
  readonly deliveries?: readonly Delivery[];
  /** The log of its owner has older entries, which are not read: some of its events may be among them. */
  readonly unreadEvents?: true;
  /** Only if it was asked for. */
  readonly payload?: Payload;
  /** `runLogs`: the log group of runs of which there is no history. */
  readonly links: { readonly execution?: string; readonly logs?: string; readonly runLogs?: string };
}

/** What the run of a working task reported last. */
export interface Progress {
  /** In ms since the epoch. */
  readonly at: number;
  readonly done?: number;
  readonly of?: number;
  /** What the tool wrote: only with the right to it. */
  readonly message?: string;
}

/** A stored item that this release does not understand: its attributes without payloads. */
export interface Unreadable {
  readonly taskId: string;
  readonly unreadable: true;
  readonly stored: StoredTask;
}

/** The latest runs that are asked about. */
const RUNS = 5;

/**
 * Shows what happened to one task. `payload`: with arguments, questions, answers and result. Throws OperatorError.
 */
export async function show(key: TaskKey, payload: boolean, context: OperatorContext): Promise<Story | Unreadable> {
  const stored = await readTask(key, payload, context);
  const record = recordOf(stored);
  if (record === undefined) return { taskId: key.taskId, unreadable: true, stored };
  const now = context.now();
  const seen = seenNow(record, now);
  const seenAs = seen === undefined ? 'gone' : seen.status;
  const [runs, report, { deliveries, unread }] = await Promise.all([
    runsOf(record, RUNS, context),
    record.status === 'working' || record.status === 'waiting' ? context.reads.progress(record, payload) : undefined,
    deliveriesOf(record, context),
  ]);
  const facts = context.server.tools.get(record.tool);
  const [whole, errors = []] = payload
    ? await Promise.all([payloadOf(record, context), thrownIn(record.taskId, runs, facts?.stateMachineArn, context)])
    : [];
  const { taskId, owner, tool, status, round, createdAt, updatedAt, deadlineAt, ttl, isError } = record;
  const error = errorOf(seen ?? record);
  const last = runs.at(-1);
  const progress = progressOf(record, report);
  const runLogs = runLogsOf(record, context.server);
  const waits = waitsShown(record);
  return {
    taskId,
    owner,
    tool,
    status,
    round,
    createdAt,
    updatedAt,
    deadlineAt,
    ...(seenAs !== status && { seenAs }),
    ...(!isTerminal(status) && { endsBy: failVisibleAt(record) }),
    readableUntil: createdAt + ttl,
    ...(error && { error }),
    ...(isError !== undefined && { isError }),
    ...(progress && { progress }),
    ...(record.rerunOf !== undefined && { rerunOf: record.rerunOf }),
    ...(waits && { waits }),
    happened: momentsOf(record, runs),
    runs,
    ...(deliveries.length > 0 && { deliveries }),
    ...(unread && { unreadEvents: true }),
    ...(whole && { payload: { ...whole, ...(errors.length > 0 && { errors }) } }),
    links: {
      ...(last && isOnAws(last) && executionLink(last.executionArn, context.server.region)),
      logs: `mcp-task-server tasks logs ${taskId}`,
      ...(runLogs !== undefined && { runLogs }),
    },
  };
}

/** Throws OperatorError if there is no such task, or the credentials do not allow it. */
export async function readTask(key: TaskKey, payload: boolean, { reads }: OperatorContext): Promise<StoredTask> {
  try {
    const stored = await reads.get(key, payload);
    if (stored !== undefined) return stored;
  } catch (error) {
    if (!isDenied(error)) throw error;
    const what = payload ? `The payload of task ${key.taskId}` : `Task ${key.taskId}`;
    throw new NotAllowed(what, payload ? 'payload' : 'read', 'read it');
  }
  throw new OperatorError(`No task '${key.taskId}': it may have expired`);
}

/** The runs of the last rounds of a task, the oldest first. */
export async function runsOf(record: TaskRecord, most: number, context: OperatorContext): Promise<RunFacts[]> {
  const tool = context.server.tools.get(record.tool);
  if (!traitsOf(record).hasHistory) return [];
  const machineArn = machineArnOf(record, context.server);
  const first = Math.max(1, record.round - most + 1);
  const rounds = Array.from({ length: record.round - first + 1 }, (_, i) => first + i);
  return Promise.all(
    rounds.map(async (round) => {
      const run = await runOf(record, round, machineArn, context.states);
      const visits = tool?.stateMachineArn && (await visitsOfRun(run, record, tool.stateMachineArn, context));
      return visits ? { ...run, visits } : run;
    }),
  );
}

/** Finds the execution of a state machine tool: it has the name of the workflow's execution. Undefined if it cannot be read. */
async function visitsOfRun(
  { round, status }: RunFacts,
  { taskId }: TaskRecord,
  stateMachineArn: string,
  { states }: OperatorContext,
): Promise<StateVisit[] | undefined> {
  if (status === 'missing' || status === 'unknown') return undefined;
  try {
    return await visitsOf(executionArnOf({ taskId, round }, stateMachineArn), states);
  } catch (error) {
    if (isDenied(error) || (error as Error).name === 'ExecutionDoesNotExist') return undefined;
    throw error;
  }
}

/** Undefined: it has not reported since its last question, or does not work. */
export function progressOf(
  { status, round, reportsFrom = round }: Pick<TaskRecord, 'status' | 'round' | 'reportsFrom'>,
  report: Report | undefined,
): Progress | undefined {
  if ((status !== 'working' && status !== 'waiting') || report === undefined) return undefined;
  if (!(Number(report.round) >= reportsFrom && Number(report.round) <= round)) return undefined;
  const { updatedAt, progress, progressTotal, statusMessage } = report;
  return {
    at: Number(updatedAt),
    ...(typeof progress === 'number' && { done: progress }),
    ...(typeof progressTotal === 'number' && { of: progressTotal }),
    ...(typeof statusMessage === 'string' && { message: withFileNames(statusMessage.slice(0, limits.statusMessage)) }),
  };
}

/** The account of the embedded cloud has no console. */
const isOnAws = ({ status, executionArn }: RunFacts): boolean =>
  status !== 'missing' && !executionArn.includes(':000000000000:');

/** The hosts of the console, by partition. The others have no address that everybody can reach. */
const CONSOLES: Readonly<Record<string, string>> = {
  aws: 'aws.amazon.com',
  'aws-cn': 'amazonaws.cn',
  'aws-us-gov': 'amazonaws-us-gov.com',
  'aws-eusc': 'amazonaws-eusc.eu',
};

function executionLink(arn: string, region: string): { readonly execution: string } | undefined {
  const console = CONSOLES[arn.split(':')[1] ?? ''];
  if (console === undefined) return undefined;
  const execution = `https://${region}.console.${console}/states/home?region=${region}#/v2/executions/details/${arn}`;
  return { execution };
}
