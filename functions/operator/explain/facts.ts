import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { isSeen } from '../../tasks/transitions/run.ts';
import type { OperatorContext, ToolFacts } from '../context.ts';
import { isDenied, type RunFacts, runLogsOf } from '../runs.ts';
import { runsOf } from '../show.ts';
import { errorOf, seenNow } from '../view.ts';
import { misfitOf } from './misfit.ts';

/** What the explanation of a task goes by. Times in ms since the epoch. */
export interface TaskFacts {
  readonly record: TaskRecord;
  readonly now: number;
  /** As every reader sees it. Undefined: past its ttl. */
  readonly seen: TaskRecord | undefined;
  /** The run of its round. Undefined: nothing can be known of it. */
  readonly run: RunFacts | undefined;
  /** Where its runs leave a trace, if they have no history. */
  readonly runLogs: string | undefined;
  readonly tool: ToolFacts | undefined;
  /** Of a failure: the name of the error, as clients see it. For people: code decides by `seen.failure`. */
  readonly reason: string | undefined;
  /** What the result breaks of the outputSchema of its tool. */
  readonly misfit: readonly string[] | undefined;
}

/** What holds for the server, whatever the task. */
export interface ServerHealth {
  /** Messages by queue of dead letters, where there are some. */
  readonly letters: Readonly<Record<string, number>>;
  /** How late the sweep is with this task, in ms. 0: it is not. */
  readonly sweepLate: number;
}

/** The sweep runs once a minute. It is late with what has been due for three. */
const SWEEP = 3 * 60_000;

/** @param payload whether the result may be read, to hold it against the schema of its tool */
export async function factsOf(record: TaskRecord, payload: boolean, context: OperatorContext): Promise<TaskFacts> {
  const now = context.now();
  const seen = seenNow(record, now);
  const [run] = await runsOf(record, 1, context);
  const tool = context.server.tools.get(record.tool);
  const misfit = payload && tool ? await misfitOf(record, tool, context) : undefined;
  return {
    record,
    now,
    seen,
    run,
    runLogs: runLogsOf(record, context.server),
    tool,
    reason: errorOf(seen ?? record)?.reason,
    misfit,
  };
}

export async function healthOf(record: TaskRecord | undefined, context: OperatorContext): Promise<ServerHealth> {
  const counts = await Promise.all(
    Object.entries(context.server.deadLetters).map(
      async ([name, url]) => [name, await lettersIn(url, context)] as const,
    ),
  );
  const { dueAt = Number.POSITIVE_INFINITY } = record ?? {};
  const late = context.now() - dueAt;
  return {
    letters: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    sweepLate: late > SWEEP ? late : 0,
  };
}

async function lettersIn(QueueUrl: string, { sqs }: OperatorContext): Promise<number> {
  try {
    const get = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] });
    const { Attributes } = await sqs.send(get);
    return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
  } catch (error) {
    if (isDenied(error)) return 0;
    throw error;
  }
}

/** Failed attempts at the work of the round, by the name of the error. */
export function failuresOf({ run }: TaskFacts, named: RegExp): RunFacts['failures'] {
  return (run?.failures ?? []).filter(({ error }) => named.test(error));
}

/** Whether its function or its state machine was deployed after the round began. */
export function isDeployedSince({ record, tool, run }: TaskFacts): boolean {
  const began = run?.startedAt ?? record.createdAt;
  return (tool?.changedAt ?? 0) > began;
}

/** Whether the run of its round has ended. One that was seen, and is missing, was deleted. */
export const isRunOver = ({ record, run }: TaskFacts): boolean =>
  run?.status === 'missing'
    ? isSeen(record)
    : run !== undefined && run.status !== 'RUNNING' && run.status !== 'unknown';

/** A round that was answered, or a new task, has had its time to start. */
export const isStartOver = ({ record, now }: TaskFacts): boolean => now > record.updatedAt + limits.startWithin;
