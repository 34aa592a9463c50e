import type { EngineContext } from '../engine/ports.ts';
import { resumeRound } from '../engine/resume.ts';
import { claimRound, startAgain } from '../engine/start-round.ts';
import { stopLate, stopRun } from '../engine/stop.ts';
import { ENGINES, engineOf, traitsOf } from '../tasks/engines.ts';
import { RecordUnknown, TooManyStarts } from '../tasks/errors.ts';
import { executionArnOf } from '../tasks/ids.ts';
import { limits } from '../tasks/limits.ts';
import { type OutcomeObjects, withOutcomeApart } from '../tasks/outcome/store-apart.ts';
import type { TaskKey, TaskRecord } from '../tasks/record.ts';
import { InputLost } from '../tasks/s3/input-store.ts';
import type { TaskStore } from '../tasks/table/store.ts';
import { after, type Change, sameDueAt } from '../tasks/transitions/change.ts';
import { loseInput } from '../tasks/transitions/end.ts';
import { checkAgain, isSeen, stopLater, untilStopped } from '../tasks/transitions/run.ts';
import { type Decision, decide, postpone } from './decide.ts';
import { decideExpress, runEnded } from './decide-express.ts';
import type { Execution } from './describe.ts';
import type { Run } from './outcome.ts';

/**
 * What the reconciler needs from outside, with what gets the large outcomes of state machines whose workflow does not write
 * them. Tests replace single members.
 */
export interface ReconcilerContext extends Omit<EngineContext, 'store'>, OutcomeObjects {
  readonly store: Pick<TaskStore, 'get' | 'applyBlind' | 'postpone'>;
  readonly describe: (executionArn: string) => Promise<Execution>;
  /** Tools that may run again after a run that perhaps happened. */
  readonly repeatable: ReadonlySet<string>;
  /** By tool that is a state machine: its ARN. */
  readonly stateMachines: ReadonlyMap<string, string>;
  /** The ARN of each workflow is this and the name of its engine. */
  readonly machineArnPrefix: string;
}

/**
 * What was done. `check`, `check_again`, `start`, `stop`, `resume`: nothing, as it depends on the run, or has to start or stop
 * one, and `mayCheck` was false. `resume_unseen`: the same on an engine without a history. `left`: Step Functions had no room for a
 * stop.
 */
export type Done = Decision['kind'] | 'start' | 'stop' | 'left' | 'resume_unseen' | 'resumed';

/** When what Step Functions had no room for is tried again, in ms: at the next sweep, which begins a minute after this one. */
const AT_NEXT = limits.firstDue / 2;

/** Repairs one task after a crash at any point: read, decide, write. It may crash between any two of its calls. */
export async function reconcile(key: TaskKey, mayCheck: boolean, context: ReconcilerContext): Promise<Done> {
  const record = await readKnown(key, context);
  if (record === 'unknown') {
    await context.store.postpone(key, context.now(), context.now() + limits.unknownRecord);
    return 'postponed';
  }
  if (record === undefined) return 'nothing';
  const engine = context.toolEngine(record.tool);
  const tool = { engine: engine ?? engineOf(record), repeatable: context.repeatable.has(record.tool) };
  const decision = traitsOf(record).hasHistory
    ? decide(record, context.now())
    : decideExpress(record, context.now(), tool);
  const resumes = decision.kind === 'resume';
  const reads = decision.kind === 'check' || decision.kind === 'check_again';
  const starts = 'start' in decision && decision.start === true;
  const stops = decision.kind === 'not_stopped';
  if (!reads && !starts && !stops && !resumes && !endsRun(decision)) return act(record, decision, context);
  // A start or a stop is a call of Step Functions, too: the sweep makes those one by one.
  if (!mayCheck) {
    // Each engine has its quota of starts.
    if (resumes) return ENGINES[tool.engine].hasHistory ? 'resume' : 'resume_unseen';
    if (starts) return 'start';
    if (stops) return 'stop';
    return isSeen(record) ? 'check_again' : 'check';
  }
  // Its tool is gone: a later version of the server may have it again.
  if (engine === undefined && !reads && !stops) return act(record, postpone(record, context.now()), context);
  try {
    if (resumes) return await resume(record, context);
    if (stops) return await stopEnded(record, decision, context);
    if (!reads) return await act(record, decision, context);
    const run = await withWork(record, await context.describe(runOf(record, context)), context);
    return await act(record, decide(record, context.now(), run, engine), context);
  } catch (error) {
    // Still due, but after the others: tasks that always fail must not use up the reads of every sweep.
    const now = context.now();
    const later = stops
      ? stopLater(record, now, AT_NEXT)
      : checkAgain(record, now, error instanceof TooManyStarts ? AT_NEXT : starts ? limits.firstDue : 0);
    await context.store.applyBlind(record, { ...later, ...sameDueAt(record) }).catch(() => undefined);
    throw error;
  }
}

/** Stops the run of a task that has ended. */
async function stopEnded(record: TaskRecord, decision: Decision, context: ReconcilerContext): Promise<Done> {
  const isRunning = async () => (await context.describe(runOf(record, context))).status === 'RUNNING';
  if (await stopLate(record, isRunning, context)) return act(record, decision, context);
  await context.store.applyBlind(record, stopLater(record, context.now(), AT_NEXT));
  return 'left';
}

/** The ARN of the run of a record's round. */
const runOf = (record: TaskRecord, { machineArnPrefix }: ReconcilerContext): string =>
  executionArnOf(record, machineArnPrefix + engineOf(record));

/** Whether the decision ends the run. On an engine without history it needs to know that the tool must not be repeated. */
const endsRun = ({ kind }: Decision): boolean => kind === 'run_ended';

/**
 * The same for a task whose run has ended. Does nothing for another run than the one of its record: the task is in another
 * round by now, its round has moved to another engine, or somebody started a run by hand with the input of another run.
 */
export async function reconcileEnded(
  key: TaskKey,
  executionArn: string,
  run: Run,
  context: ReconcilerContext,
): Promise<Done> {
  const record = await readKnown(key, context);
  if (record === 'unknown' || record === undefined || runOf(record, context) !== executionArn) return 'nothing';
  return act(record, decide(record, context.now(), await withWork(record, run, context)), context);
}

/**
 * Adds the execution of the tool's own state machine, if its outcome may have to be written here: the workflow that
 * waits for it has ended, or was seen before and may have missed its end.
 */
async function withWork(record: TaskRecord, run: Run, { stateMachines, describe }: ReconcilerContext): Promise<Run> {
  const stateMachine = stateMachines.get(record.tool);
  if (stateMachine === undefined || record.status !== 'working' || run.status === 'missing') return run;
  if (run.status === 'RUNNING' && !isSeen(record)) return run;
  try {
    return { ...run, work: await describe(executionArnOf(record, stateMachine)) };
  } catch (error) {
    // It is encrypted with a key that this role may not use. Then only the workflow counts.
    if (/AccessDenied/.test((error as Error).name)) return run;
    throw error;
  }
}

async function readKnown(key: TaskKey, { store }: ReconcilerContext): Promise<TaskRecord | undefined | 'unknown'> {
  try {
    return await store.get(key);
  } catch (error) {
    if (error instanceof RecordUnknown) return 'unknown';
    throw error;
  }
}

async function act(record: TaskRecord, decision: Decision, context: ReconcilerContext): Promise<Done> {
  if (!('change' in decision)) return decision.kind;
  const change = decision.stop ? untilStopped(record, decision.change, context.now()) : decision.change;
  try {
    if (decision.claim) return await claim(record, decision.kind, change, context);
    // After a crash behind the start, the next sweep finds the execution: no name starts twice.
    const start = decision.start ? await startAgain(after(record, change), context) : 'started';
    if (start === 'gone') return act(record, postpone(record, context.now()), context);
    // The round was started on the tool's new engine, and that run has ended.
    if (start === 'taken' && !traitsOf(record).hasHistory) {
      return act(record, runEnded(record, context.now()), context);
    }
  } catch (error) {
    // No later sweep could start it.
    if (!(error instanceof InputLost)) throw error;
    return (await context.store.applyBlind(record, loseInput(record, context.now()))) ? decision.kind : 'nothing';
  }
  const written = await context.store.applyBlind(record, await withOutcomeApart(record, change, context));
  // If the write lost, perhaps to a cancel that found no run to stop, stop the run that was started here.
  if (written ? decision.stop : decision.start) await stopRun(after(record, change), context);
  return written ? decision.kind : 'nothing';
}

/** Begins the next round of a task that waits. */
async function resume(record: TaskRecord, context: ReconcilerContext): Promise<Done> {
  try {
    const done = await resumeRound(record, context);
    if (done === 'gone') return await act(record, postpone(record, context.now()), context);
    return done === 'started' ? 'resumed' : 'nothing';
  } catch (error) {
    if (!(error instanceof InputLost)) throw error;
    return (await context.store.applyBlind(record, loseInput(record, context.now()))) ? 'unanswered' : 'nothing';
  }
}

/** Starts a round, if no other sweep does. */
async function claim(record: TaskRecord, repair: Done, change: Change, context: ReconcilerContext): Promise<Done> {
  const claimed = await claimRound(record, change, context);
  if (claimed === 'gone') return act(record, postpone(record, context.now()), context);
  return claimed === 'lost' ? 'nothing' : repair;
}
