import { failure } from '../../tasks/failures.ts';
import { limits } from '../../tasks/limits.ts';
import type { TaskRecord } from '../../tasks/record.ts';
import { withInput, workflowKeeps } from '../../tasks/s3/moved-input.ts';
import { failAsSeen, isTerminal } from '../../tasks/transitions.ts';
import { roundInput } from '../../tasks/workflow.ts';
import type { OperatorContext } from '../context.ts';
import { NotAllowed, OperatorError } from '../errors.ts';
import { isDenied } from '../runs.ts';
import { keepPayload, type Outcome, readRecord, stopRun } from './act.ts';

/** As the endpoint creates a task: its input, its record, its first round. Throws OperatorError. */
export async function begin(
  made: TaskRecord,
  args: string,
  machineArn: string,
  context: OperatorContext,
): Promise<Began> {
  const { inputs, store, workflow } = context;
  const { record, text } = withInput(made, args);
  const input = roundInput(made, args, workflowKeeps(record, args));
  if (input === undefined)
    throw new OperatorError('Its arguments are too large to start with: 256 KiB with their escapes');
  if (text !== undefined) await allowed(inputs.put(record, text));
  if (!(await allowed(store.create(record)))) {
    const there = await readRecord(record, false, context);
    // The SDK has repeated a put whose answer was lost.
    if (!isSame(there, record)) return alreadyDone(there);
  }
  // This process may have been suspended. Then the sweep may be failing the task as never started (row 4).
  if (context.now() > record.createdAt + limits.startWithin) {
    return notStarted(record, `the start came more than ${limits.startWithin / 1_000} s late`, context);
  }
  try {
    if ((await workflow.start(record, machineArn, input)) === 'taken') {
      return await notStarted(record, 'another run has its name', context);
    }
    return (await overBefore(record, context)) ?? began(record);
  } catch (error) {
    const outcome = await notStarted(record, (error as Error).name, context);
    if (isDenied(error)) throw new NotAllowed('Not run again', 'payload', 'start its workflow');
    return outcome;
  }
}

type Began = Omit<Outcome, 'taskId'>;

const began = ({ taskId }: TaskRecord): Began => ({
  done: true,
  newTaskId: taskId,
  message: `Runs again as ${taskId}`,
});

const isSame = (a: TaskRecord, b: TaskRecord): boolean => {
  const [first, other] = [a.events?.[0], b.events?.[0]];
  return a.createdAt === b.createdAt && first?.who === other?.who && first?.reason === other?.reason;
};

function alreadyDone({ taskId, events = [], status }: TaskRecord): Began {
  const { who, reason } = events[0] ?? {};
  const by = who === undefined ? '' : ` by ${who}${reason ? ` (“${reason}”)` : ''}`;
  const message = `Not run again: it was run again before${by}, as ${taskId}, which is ${status}. Act on that task, or use --force`;
  return { done: false, message };
}

/** A cancel or a sweep before the start found no run to stop. Now there is one. A read that fails says nothing. */
async function overBefore(record: TaskRecord, context: OperatorContext): Promise<Began | undefined> {
  const seen = await readRecord(record, false, context).catch(() => undefined);
  const { taskId, status, events = [] } = seen ?? record;
  // What its run has ended has the start of the run in its event.
  if (!isTerminal(status) || events.some(({ startedAt }) => startedAt !== undefined)) return undefined;
  await stopRun(record, context);
  const run = record.express ? 'goes on until its tool looks, and can change nothing' : 'is stopped';
  const message = `Not run again: the new task ${taskId} was ${status} before its run began. The run ${run}. See what it did: mcp-task-server tasks show ${taskId}`;
  return { done: false, message };
}

/**
 * A start that failed, or whose answer was lost. The record fails first, so that a run that began cannot change it; then
 * that run stops (docs/crash-table.md, rows 2 and 3).
 */
async function notStarted(record: TaskRecord, why: string, context: OperatorContext): Promise<Began> {
  const { taskId } = record;
  const change = keepPayload(failAsSeen(record, failure('NotStarted'), context.now()));
  const failed = await context.store.applyBlind(record, change).catch(() => undefined);
  const seen = failed === true ? undefined : await readRecord(record, false, context).catch(() => undefined);
  if (seen !== undefined && !['working', 'failed', 'cancelled'].includes(seen.status)) return began(record);
  await stopRun(record, context);
  const left = record.express ? 'The sweep starts it within 8 minutes' : 'It ends within 2 minutes';
  const end = failed === true ? 'It is failed' : left;
  const run = record.express ? 'can change nothing' : 'is stopped';
  const message = `Not run again: the new task ${taskId} could not be started (${why}). ${end}, and its run, if it began, ${run}. See what it did: mcp-task-server tasks show ${taskId}`;
  return { done: false, message };
}

/** Throws NotAllowed if AWS refuses the call. */
export async function allowed<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isDenied(error) || (error as { code?: string }).code === 'AccessDenied') {
      throw new NotAllowed('Not run again', 'payload', 'read its arguments, or create a task');
    }
    throw error;
  }
}
